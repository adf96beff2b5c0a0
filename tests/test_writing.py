"""Writing to a path: files appear whole, and devices, pipes and links are left in their place."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie import KMeans
from coterie._writing import check_writable, move_into_place, scratch_directory, writing
from full_disks import no_file_above

X = np.arange(40.0).reshape(20, 2)


def small():
    return KMeans(n_clusters=2, n_init=1, random_state=0).fit(X)


def device(path, major, minor):
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        pytest.skip("making devices is not permitted here")
    return path


def drain(path, into):
    thread = threading.Thread(target=lambda: into.append(Path(path).read_bytes()))
    thread.start()
    return thread


# ---- what stands at the path stays


def test_a_device_is_written_through(tmp_path):
    null = device(tmp_path / "null", 1, 3)
    small().save(null)
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert os.listdir(tmp_path) == ["null"]


def test_a_link_to_a_device_is_written_through(tmp_path):
    null = device(tmp_path / "null", 1, 3)
    (tmp_path / "link").symlink_to("null")
    small().save(tmp_path / "link")
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_is_written_through(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = drain(tmp_path / "pipe", got)
    small().save(tmp_path / "pipe")
    reader.join(30)
    (tmp_path / "m").write_bytes(got[0])
    assert coterie.load(tmp_path / "m").n_clusters == 2
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_terminal_is_written_through():
    ours, theirs = os.openpty()
    try:
        with writing(os.ttyname(theirs)) as file:
            file.write(b"label\n0\n")
        assert os.read(ours, 100).split() == [b"label", b"0"]
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("name", ["/proc/self/fd/{}", "/dev/fd/{}"])
def test_an_open_file_of_the_process_goes_on_where_it_is(tmp_path, name):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("descriptors have no paths here")
    with open(tmp_path / "log", "wb", buffering=0) as log:
        log.write(b"before\n")
        with writing(name.format(log.fileno())) as file:
            file.write(b"labels\n")
        log.write(b"after\n")
    assert (tmp_path / "log").read_bytes() == b"before\nlabels\nafter\n"


@pytest.mark.parametrize("exists", [True, False])
def test_links_are_followed_and_stay(tmp_path, exists):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    if exists:
        (tmp_path / "b" / "real").write_text("old")
    (tmp_path / "b" / "second").symlink_to("real")
    (tmp_path / "a" / "first").symlink_to("../b/second")
    small().save(tmp_path / "a" / "first")
    assert (tmp_path / "a" / "first").is_symlink()
    assert (tmp_path / "b" / "second").is_symlink()
    assert coterie.load(tmp_path / "b" / "real").n_clusters == 2
    assert sorted(os.listdir(tmp_path / "a") + os.listdir(tmp_path / "b")) == [
        "first",
        "real",
        "second",
    ]


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="links") as caught:
        small().save(tmp_path / "a")
    assert caught.value.errno == errno.ELOOP
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path, mode):
    (tmp_path / "m").write_text("old")
    (tmp_path / "m").chmod(mode)
    small().save(tmp_path / "m")
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_an_existing_file_keeps_its_owner(tmp_path):
    (tmp_path / "m").write_text("old")
    os.chown(tmp_path / "m", 1234, 4321)
    small().save(tmp_path / "m")
    found = (tmp_path / "m").stat()
    assert (found.st_uid, found.st_gid) == (1234, 4321)


# ---- what cannot be written to


def test_directories_are_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="no/way does not exist; make it first") as caught:
        small().save(tmp_path / "no" / "way" / "m")
    assert caught.value.filename == str(tmp_path / "no" / "way" / "m")
    assert os.listdir(tmp_path) == []


def test_a_directory_or_nothing_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="name a file"):
        small().save(tmp_path)
    with pytest.raises(FileNotFoundError, match="the path is empty"):
        small().save("")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="is not a directory"):
        small().save(tmp_path / "file" / "m")


def test_check_writable_leaves_nothing(tmp_path):
    check_writable(tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_full_device_is_an_os_error_with_its_path(tmp_path):
    full = device(tmp_path / "full", 1, 7)
    with pytest.raises(OSError, match="No space left") as caught:
        small().save(full)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(full)
    assert stat.S_ISCHR(full.lstat().st_mode)


def test_a_full_disk_is_an_os_error_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "m"
    path.write_text("old")
    with (
        no_file_above(100),
        pytest.raises(OSError, match="too large; it was not written") as caught,
    ):
        small().save(path)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m"]


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, writing(tmp_path / "m"):
        os.stat(tmp_path / "other")
    assert caught.value.filename == str(tmp_path / "other")
    assert os.listdir(tmp_path) == []


# ---- scratch files

KILLED = """
import os, signal, sys
from pathlib import Path
from coterie._writing import scratch_directory, writing
with writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    with scratch_directory(Path(sys.argv[1]).parent) as place:
        (place / "more").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_leaves_is_removed_by_the_next_save(tmp_path):
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "m")])
    assert run.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    small().save(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]


def test_scratch_in_use_is_left_alone(tmp_path):
    with writing(tmp_path / "a") as file, scratch_directory(tmp_path) as place:
        file.write(b"a")
        with writing(tmp_path / "b") as other:
            other.write(b"b")
        assert place.is_dir()
        assert len(os.listdir(tmp_path)) == 3
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_files_that_only_look_like_scratch_are_left_alone(tmp_path):
    for name in (".coterie-notes.tmp", ".m.0123456789ab.tmp", "coterie-0123456789ab.tmp"):
        (tmp_path / name).write_text("mine")
    small().save(tmp_path / "m")
    assert len(os.listdir(tmp_path)) == 4


def test_without_locks_files_are_written_all_the_same(tmp_path, monkeypatch):
    def no_locks(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / ".coterie-0123456789ab.tmp").write_text("perhaps in use")
    small().save(tmp_path / "m")
    assert sorted(os.listdir(tmp_path)) == [".coterie-0123456789ab.tmp", "m"]


def test_moving_into_place_follows_links_and_fills_pipes(tmp_path):
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = drain(tmp_path / "pipe", got)
    for target in ("link", "pipe"):
        (tmp_path / "scratch").write_bytes(b"content")
        move_into_place(tmp_path / "scratch", tmp_path / target)
    reader.join(30)
    assert got == [b"content"]
    assert (tmp_path / "real").read_bytes() == b"content"
    assert (tmp_path / "link").is_symlink()
