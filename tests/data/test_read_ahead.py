"""Reading ahead: in order, bounded, and no thread stays behind however it ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from coterie.data._read_ahead import read_ahead


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "coterie-reader"]


@pytest.fixture(autouse=True)
def _no_thread_stays_behind() -> Iterator[None]:
    assert not readers()
    yield
    assert not readers()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("depth", [1, 2, 7])
def test_all_pieces_come_in_order(n: int, depth: int) -> None:
    assert list(read_ahead(lambda: iter(range(n)), depth)) == list(range(n))


def test_no_more_is_made_than_there_is_room_for() -> None:
    made = []

    def make() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    pieces = read_ahead(make, 2)
    assert next(pieces) == 0
    time.sleep(0.1)
    assert len(made) <= 4  # one in use, two waiting, one in the hand of the thread
    pieces.close()  # type: ignore[attr-defined]


def test_the_thread_ends_when_the_consumer_stops_early() -> None:
    for i in read_ahead(lambda: iter(range(10**9)), 2):
        if i == 3:
            break


def test_the_thread_ends_with_an_iterator_that_is_forgotten() -> None:
    pieces = read_ahead(lambda: iter(range(10**9)), 2)
    next(pieces)
    del pieces


def test_the_thread_ends_when_the_consumer_fails() -> None:
    def fails() -> None:
        for i in read_ahead(lambda: iter(range(10**9)), 2):
            if i == 3:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()


def test_an_exception_of_the_thread_is_raised_after_what_came_before() -> None:
    def make() -> Iterator[int]:
        yield 1
        yield 2
        raise ZeroDivisionError("here")

    seen: list[int] = []
    with pytest.raises(ZeroDivisionError, match="here"):
        seen.extend(read_ahead(make, 1))
    assert seen == [1, 2]


SLOW = """
import signal, sys, threading, time
from coterie.data._read_ahead import read_ahead

def make():
    while True:
        time.sleep(0.05)
        yield 1

threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
try:
    for _ in read_ahead(make, 2):
        time.sleep(0.01)
except KeyboardInterrupt:
    print([t.name for t in threading.enumerate() if t.name == "coterie-reader"])
"""

LEFT_OPEN = """
from coterie.data._read_ahead import read_ahead
pieces = read_ahead(lambda: iter(range(10**9)), 2)
print(next(pieces))
"""


@pytest.mark.parametrize(("code", "told"), [(SLOW, "[]\n"), (LEFT_OPEN, "0\n")])
def test_interrupts_and_exits_are_clean(code: str, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == (told, "")
