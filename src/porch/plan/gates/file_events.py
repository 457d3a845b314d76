"""Waiting until something changes in a directory: told by the system, or seen by looking again.

Events are only a reason to look sooner. They get lost on network file systems, when a queue runs
over or a directory is replaced, so there is always a look, and nobody waits for ever.
"""

import contextlib
import os
import select
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol, Self

if TYPE_CHECKING:
    import ctypes

WatchKind = Literal["inotify", "kqueue", "polling"]
DirectorySnapshot = dict[tuple[str, str], tuple[int, int, int]]


class ChangeSource(Protocol):
    """Somebody who says that something has changed."""

    def heard(self, seconds: float) -> bool: ...

    def close(self) -> None: ...


KINDS: tuple[WatchKind, ...] = ("inotify", "kqueue", "polling")
POLL_S = 0.5
LOOK_S = 5.0


class EventsLost(Exception):
    """Whoever told of changes cannot be relied on any more."""


class DirectoryWatch:
    """The changes in some directories since it was entered, or since the last that was told."""

    def __init__(self, directories: Sequence[str], kinds: Sequence[WatchKind] = KINDS):
        self._directories = [os.path.abspath(directory) for directory in directories]
        self._kinds = kinds
        self._source: ChangeSource | None = None
        self._seen: DirectorySnapshot = {}
        self.kind: WatchKind = "polling"

    def __enter__(self) -> Self:
        for kind in self._kinds:
            source = _SOURCES[kind](self._directories)
            if source is not None:
                self._source, self.kind = source, kind
                break
        # After the events began: what happens in between is seen twice rather than never.
        self._seen = _snapshot_directories(self._directories)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._look_from_now_on()

    def wait(self, timeout_s: float) -> bool:
        """Whether something has changed before the time was over."""
        end = time.monotonic() + timeout_s
        while not self._looks_different():
            left = end - time.monotonic()
            if left <= 0:
                return self._heard(0) and self._told()
            if self._heard(left):
                return self._told()
        return self._told()

    def _looks_different(self) -> bool:
        return _snapshot_directories(self._directories) != self._seen

    def _told(self) -> bool:
        # One saving is several events; all that came so far are told by this answer.
        self._heard(0)
        self._seen = _snapshot_directories(self._directories)
        return True

    def _heard(self, seconds: float) -> bool:
        if self._source is None:
            time.sleep(min(seconds, POLL_S))
            return False
        try:
            return self._source.heard(min(seconds, LOOK_S))
        except (EventsLost, OSError):
            self._look_from_now_on()
            return True

    def _look_from_now_on(self) -> None:
        if self._source is not None:
            self._source.close()
        self._source, self.kind = None, "polling"


def _snapshot_directories(directories: Sequence[str]) -> DirectorySnapshot:
    """What tells one state of the directories from another."""
    found: DirectorySnapshot = {}
    for directory in directories:
        try:
            with os.scandir(directory) as entries:
                names = [entry.name for entry in entries]
        except OSError:
            continue
        # The directory itself: an empty one is not a missing one.
        found[directory, ""] = (0, 0, 0)
        for name in names:
            stamp = _read_stamp(os.path.join(directory, name))
            if stamp is not None:
                found[directory, name] = stamp
    return found


def _read_stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _no_source(_directories: Sequence[str]) -> ChangeSource | None:
    return None


# Of Linux, <sys/inotify.h>.
_MODIFY, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE = 0x2, 0x8, 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_WANTED = _MODIFY | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_ENDS = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
# Of <linux/magic.h> and their own headers: file systems that somebody else may write to, far away.
_NETWORK_FILE_SYSTEMS = frozenset(
    (
        0x6969,  # NFS
        0x517B,  # SMB
        0xFF534D42,  # CIFS
        0xFE534D42,  # SMB 2
        0x01021997,  # 9P, which is also how WSL shows the disks of Windows
        0x65735546,  # FUSE
        0x00C36400,  # Ceph
        0x5346414F,  # AFS
        0x786F4256,  # shared folders of VirtualBox
    )
)
_EVENT = struct.Struct("iIII")
_CHUNK = 64 * 1024


class _InotifySource:
    def __init__(self, fd: int):
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def heard(self, seconds: float) -> bool:
        # Rounded up: a wait of less than a millisecond must not become a loop without a pause.
        if not self._poll.poll(int(seconds * 1000) + (seconds > 0)):
            return False
        for mask in self._masks():
            if mask & _ENDS:
                raise EventsLost
        return True

    def close(self) -> None:
        os.close(self._fd)

    def _masks(self) -> Iterator[int]:
        while True:
            try:
                data = os.read(self._fd, _CHUNK)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                yield mask


def _open_inotify(directories: Sequence[str]) -> ChangeSource | None:
    """None where the system has no events, or no more of them for us."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        libc = ctypes.CDLL(None)
        fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        add = libc.inotify_add_watch
    except (OSError, AttributeError):
        return None
    if fd < 0:
        return None
    add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    paths = [os.fsencode(directory) for directory in directories]
    if any(_is_network_mount(libc, path) or add(fd, path, _WANTED) < 0 for path in paths):
        os.close(fd)
        return None
    return _InotifySource(fd)


def _is_network_mount(libc: "ctypes.CDLL", path: bytes) -> bool:
    """Whether changes there may come without an event."""
    import ctypes

    # More than any `struct statfs` needs; the type of the file system comes first in it.
    found = (ctypes.c_ulong * 64)()
    return libc.statfs(path, found) == 0 and found[0] & 0xFFFFFFFF in _NETWORK_FILE_SYSTEMS


if sys.platform == "darwin":  # pragma: no cover

    class _KqueueSource:
        """Directories tell of names, files of content; so the files there are watched as well."""

        def __init__(self, directories: Sequence[str]):
            self._directories = directories
            self._queue = select.kqueue()
            self._fds: list[int] = []

        def heard(self, seconds: float) -> bool:
            events = self._queue.control(None, 64, seconds)
            if events:
                # Names may be new, and a replaced file is another one.
                self._forget()
                self.watch()
            return bool(events)

        def close(self) -> None:
            self._forget()
            self._queue.close()

        def watch(self) -> None:
            for directory in self._directories:
                self._add(directory)
                for name in os.listdir(directory):
                    # What has gone again by now, or may not be read, is nothing to wait for.
                    with contextlib.suppress(FileNotFoundError, PermissionError):
                        self._add(os.path.join(directory, name))

        def _forget(self) -> None:
            while self._fds:
                os.close(self._fds.pop())

        def _add(self, path: str) -> None:
            # O_EVTONLY, which Python does not name; a pipe must not make us wait for its writer.
            fd = os.open(path, 0x8000 | os.O_NONBLOCK | os.O_CLOEXEC)
            self._fds.append(fd)
            told = select.KQ_NOTE_WRITE | select.KQ_NOTE_EXTEND
            gone = select.KQ_NOTE_DELETE | select.KQ_NOTE_RENAME
            flags = select.KQ_EV_ADD | select.KQ_EV_CLEAR
            event = select.kevent(fd, select.KQ_FILTER_VNODE, flags, told | gone)
            self._queue.control([event], 0, 0)

    def _open_kqueue(directories: Sequence[str]) -> ChangeSource | None:
        try:
            source = _KqueueSource(directories)
        except OSError:
            return None
        try:
            source.watch()
        except OSError:
            source.close()
            return None
        return source

else:
    _open_kqueue = _no_source

_SOURCES: dict[WatchKind, Callable[[Sequence[str]], ChangeSource | None]] = {
    "inotify": _open_inotify,
    "kqueue": _open_kqueue,
    "polling": _no_source,
}
