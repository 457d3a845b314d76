"""What only Linux has is used in few modules, and each of them has another way."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.scratch import ROOT

PACKAGE = ROOT / "src" / "porch"
# Names of the standard library, of fcntl, socket and the C library that other systems do not have.
LINUX = re.compile(
    r"fdatasync|pipe2|posix_fallocate|posix_fadvise|copy_file_range|splice|sendfile|preadv2?|pwritev2?"
    r"|memfd_create|eventfd\w*|timerfd_\w+|signalfd|epoll\w*|EPOLL\w*|pidfd_\w+|PIDFD_\w+|P_PIDFD"
    r"|sched_\w+|SCHED_\w+|unshare|setns|CLONE_\w+|prctl|PR_[A-Z_]+|prlimit|getrandom|GRND_\w+"
    r"|(?:get|set|list|remove)xattr|renameat2|RENAME_\w+|inotify\w*|IN_(?:MODIFY|CLOSE_WRITE|MOVED\w*|CREATE|DELETE\w*|ATTRIB)|fanotify\w*"
    r"|O_(?:TMPFILE|PATH|DIRECT|NOATIME|LARGEFILE|RSYNC)|F_(?:SETLEASE|GETLEASE|SETSIG|GETSIG|NOTIFY"
    r"|ADD_SEALS|GET_SEALS|SEAL_\w+|SETPIPE_SZ|GETPIPE_SZ|OFD_\w+)|DN_\w+|FICLONE\w*"
    r"|SO_(?:PEERCRED|PASSCRED|DOMAIN|PROTOCOL|MARK|BINDTODEVICE)|SCM_CREDENTIALS|AF_(?:NETLINK"
    r"|VSOCK|ALG|PACKET)|MSG_(?:NOSIGNAL|CMSG_CLOEXEC|ERRQUEUE|MORE|CONFIRM)|SOCK_(?:CLOEXEC|NONBLOCK)"
    r"|accept4|sigtimedwait|sigwaitinfo|getresuid|getresgid|setresuid|setresgid|statx"
)
PLACES = re.compile(r"/(?:proc|sys|dev/shm)(?:/|$)")
# By module: what it uses of that, and what happens elsewhere.
ALLOWED = {
    "system/processes.py": ({"/proc"}, "psutil, loaded only there"),
    "system/socket_peer.py": ({"/proc/net/tcp", "/proc/net/tcp6", "/proc/"}, "psutil"),
    "system/atomic.py": ({"fdatasync"}, "F_FULLFSYNC, else fsync"),
    "system/swap.py": ({"renameat2"}, "no swap: two renames, between which the file is missing"),
    "store/lock.py": ({"/proc/sys/kernel/random/boot_id"}, "sysctl, else the time of the start"),
    "plan/gates/file_events.py": (
        {"inotify", "inotify_init1", "inotify_add_watch"},
        "kqueue, else looking again and again",
    ),
    "plan/gate_files/file_versions.py": (
        {"F_SETLEASE", "F_SETSIG"},
        "nobody knows whether a file is being written, so none is removed",
    ),
    "fleet/drivers/forked.py": (
        {"/proc/self/task", "/proc/self/fd"},
        "nothing is forked, and a new process is started",
    ),
    "fleet/health/platform_probe.py": ({"inotify_init1"}, "it looks for kqueue"),
}
# A program that people start others with, and no call.
WORDS = {("plan/prompts/claim_owner.py", "unshare")}


def list_linux_names(code: str) -> Iterator[tuple[int, str]]:
    """Each with its line: attributes, names, names in texts, and places of the file system."""
    tree = ast.parse(code)
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name):
                if LINUX.fullmatch(name):
                    yield node.lineno, name
            case ast.Constant(value=str(text)) if id(node) not in described:
                if LINUX.fullmatch(text) or PLACES.match(text):
                    yield node.lineno, text
            case _:
                pass


def find_unportable(package: Path) -> Iterator[str]:
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        allowed = ALLOWED.get(name, (set(), ""))[0]
        for line, used in list_linux_names(file.read_text(encoding="utf-8")):
            if used not in allowed and (name, used) not in WORDS:
                yield f"{name}:{line}: {used} is there only on Linux; where is the other way?"


def test_what_only_linux_has_is_used_where_there_is_another_way() -> None:
    assert list(find_unportable(PACKAGE)) == []


def test_what_is_allowed_is_used() -> None:
    for name, (allowed, instead) in ALLOWED.items():
        code = (PACKAGE / name).read_text(encoding="utf-8")
        assert {used for _, used in list_linux_names(code)} >= allowed, name
        assert instead


def test_a_module_that_begins_to_use_it_is_found_with_its_line(tmp_path: Path) -> None:
    code = (
        '"""It says /proc and prctl in words only."""\n'
        "import os\n"
        "from select import epoll\n"
        "def look(pid: int) -> str:\n"
        '    """/proc/1"""\n'
        "    os.copy_file_range(1, 2, 3)\n"
        '    flag = getattr(os, "O_TMPFILE")\n'
        '    return f"/proc/{pid}/stat" + "/processes" + open("/dev/shm/x").read()\n'
        "def reset(libc) -> None:\n"
        "    libc.prctl(1, 9)\n"
    )
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "swap.py").write_text(code)
    found = [line.partition(" is there")[0] for line in find_unportable(tmp_path)]
    assert sorted(found) == [
        "system/swap.py:10: prctl",
        "system/swap.py:3: epoll",
        "system/swap.py:6: copy_file_range",
        "system/swap.py:7: O_TMPFILE",
        "system/swap.py:8: /dev/shm/x",
        "system/swap.py:8: /proc/",
    ]


def test_the_readme_says_which_systems_are_tested() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "Linux is tested, macOS is expected to work and is not tested" in text
