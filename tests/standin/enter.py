"""Starts a command where only the loopback exists, with the stand-in's port on it.

Used as `unshare -n python enter.py DOOR PORT COMMAND...`. The listening socket is made in here and
handed out through the door (a socket in the file system, which no namespace hides), so the stand-in
answers although it lives outside. The command replaces this process: its id and signals stay true.
"""

import fcntl
import os
import socket
import struct
import sys

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def main() -> None:
    door, port, *command = sys.argv[1:]
    _raise_loopback()
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as visitor:
        visitor.connect(door)
        socket.send_fds(visitor, [b"l"], [listener.fileno()])
        visitor.recv(1)
    listener.close()
    os.execv(command[0], command)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", asked)[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


if __name__ == "__main__":
    main()
