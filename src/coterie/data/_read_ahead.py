"""Reading ahead: what comes next is made on a thread of its own while the last is used."""

from __future__ import annotations

import atexit
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from coterie.data._giving_back import give_back

Item = TypeVar("Item")

#: Pieces that wait to be used; one more is being made, and one is in use.
DEPTH = 2


def read_ahead(make: Callable[[], Iterator[Item]], depth: int = DEPTH) -> Iterator[Item]:
    """What ``make()`` yields, in order; up to `depth` pieces wait to be asked for.

    The thread ends with the iterator: when it is used up, closed or forgotten, and when either
    side fails. An exception of `make` is raised here, after the pieces made before it.
    """
    give_back()
    shelf: _Shelf[Item] = _Shelf(depth)
    worker = Thread(target=_fill, args=(shelf, make), name="coterie-reader", daemon=True)
    shelf.worker = worker
    _in_use.add(shelf)
    worker.start()
    try:
        while (item := shelf.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.taken()
            yield item
            del item  # not held while the next is awaited
    finally:
        shelf.close()
        give_back()


_END: Any = object()


class _Failure:
    """An exception on its way to the side that can tell of it."""

    def __init__(self, error: BaseException) -> None:
        self._errors = [error]

    def taken(self) -> BaseException:
        """The exception, held no longer: its traceback will hold the frame that holds this."""
        return self._errors.pop()


class _Shelf(Generic[Item]):
    """Places for pieces between two threads; once closed, nothing is put there and nobody waits."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._items: deque[Any] = deque()
        self._changed = Condition()
        self._closed = False
        self.worker: Thread | None = None

    def put(self, item: Any) -> bool:
        """Wait for a place; False once nobody will ask for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> Any:
        """Wait for the next piece."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._items)
            item = self._items.popleft() if self._items else _END
            self._changed.notify_all()
            return item

    def close(self) -> None:
        """Let go of what is there, and wait until the thread has seen it."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
        if self.worker is not None:
            self.worker.join()


def _fill(shelf: _Shelf[Any], make: Callable[[], Iterator[Any]]) -> None:
    """Put pieces on a shelf until there are no more, or no one wants them."""
    try:
        for item in make():
            if not shelf.put(item):
                return
            del item
            give_back()
        shelf.put(_END)
    except BaseException as error:
        shelf.put(_Failure(error))


_in_use: WeakSet[_Shelf[Any]] = WeakSet()


@atexit.register
def _close_all() -> None:
    """End threads before the interpreter goes away under them."""
    for shelf in list(_in_use):
        shelf.close()
