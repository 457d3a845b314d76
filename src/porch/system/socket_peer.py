"""Which processes hold the other end of a connection on this machine, as far as the kernel tells.

Linux lists the sockets of everybody in `/proc/net`, each with a number, and shows which process has
a descriptor of that number. Where there is no such list, psutil asks each process of this user for
its connections. Neither way tells of processes of other users.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

from porch.system.processes import has_proc, list_pids, read_stat

Address = tuple[str, int]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAPPED = bytes(10) + b"\xff\xff"
_LOCAL, _REMOTE, _INODE = 1, 2, 9


def can_tell_peers() -> bool:
    """Whether this system says who is at the other end of a connection at all."""
    if _has_tables():
        return True
    try:
        return bool(list_pids()) and _list_connections(os.getpid()) is not None
    except OSError:
        return False


def _has_tables() -> bool:
    return os.path.exists(_TABLES[0]) and has_proc()


def find_socket_number(peer: Address, own: Address) -> str:
    """What names the socket at the other end; empty if the system does not tell."""
    if not _has_tables():
        return _name_holders(peer, own)
    wanted = {(_encode(peer, is_long), _encode(own, is_long)) for is_long in (False, True)}
    for table in _TABLES:
        for fields in _read_rows(table):
            if (fields[_LOCAL], fields[_REMOTE]) in wanted:
                return fields[_INODE]
    return ""


def list_socket_holders(number: str) -> list[int]:
    """The processes that have a descriptor of this socket; a fork may share it."""
    if not number.isdecimal():
        return [int(each.partition("@")[0]) for each in number.split()]
    link = f"socket:[{number}]"
    return [pid for pid in sorted(list_pids()) if _holds(pid, link)]


def _name_holders(peer: Address, own: Address) -> str:
    """Without numbers a socket is named after who holds it now, each with when it began."""
    ends = (_plain(peer), _plain(own))
    held = (pid for pid in sorted(list_pids()) if ends in (_list_connections(pid) or ()))
    stats = ((pid, read_stat(pid)) for pid in held)
    return " ".join(f"{pid}@{stat.began}" for pid, stat in stats if stat)


def _list_connections(pid: int) -> list[tuple[Address, Address]] | None:
    """Both ends of each, as the process has them; None of processes that one may not ask."""
    import psutil

    try:
        process = psutil.Process(pid)
        # Before psutil 6 it had another name.
        ask = getattr(process, "net_connections", None) or process.connections
        return [(_plain(each.laddr), _plain(each.raddr)) for each in ask("tcp") if each.raddr]
    except psutil.Error:
        return None


def _plain(address: Address) -> Address:
    """An address of four numbers, also where a socket of both kinds calls it a long one."""
    return address[0].removeprefix("::ffff:"), address[1]


def _holds(pid: int, link: str) -> bool:
    directory = f"/proc/{pid}/fd"
    for name in _list_names(directory):
        with contextlib.suppress(OSError):
            if os.readlink(f"{directory}/{name}") == link:
                return True
    return False


def _list_names(directory: str) -> list[str]:
    """Processes end while one looks, and those of others are not shown."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _read_rows(table: str) -> Iterator[list[str]]:
    try:
        with open(table, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
    except OSError:
        return
    yield from (fields for fields in rows if len(fields) > _INODE)


def _encode(address: Address, is_long: bool) -> str:
    """As the kernel prints it: each four bytes as one number of this machine, in hex."""
    host, port = address[0], address[1]
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    if is_long and len(packed) == 4:
        packed = _MAPPED + packed
    words = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    told = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{told}:{port:04X}"
