"""What an agent may do, in the one form that every command line is given its own version of.

`write:src/**`, `bash:npm *`, `read:*`; paths are globs from the top of the workspace. Nobody obeys
these by being asked: each agent's adapter compiles them, and says what it cannot hold to.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from porch.errors import Finding, Place

ANY = "*"
EVERYWHERE = "**"


class Permissions(Struct, frozen=True):
    """Globs of files to write, of commands to run, of files to read; or no limits at all."""

    write: tuple[str, ...] = ()
    bash: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    unlimited: bool = False

    @property
    def writes_everywhere(self) -> bool:
        """Everywhere inside the workspace."""
        return self.unlimited or EVERYWHERE in self.write or ANY in self.write

    @property
    def runs_anything(self) -> bool:
        return self.unlimited or ANY in self.bash

    def texts(self) -> tuple[str, ...]:
        if self.unlimited:
            return ("all",)
        kinds = (("write", self.write), ("bash", self.bash), ("read", self.read))
        return tuple(f"{kind}:{glob}" for kind, globs in kinds for glob in globs)


# Where a protocol says nothing: files and commands inside the workspace, nothing outside of it.
INSIDE = Permissions((EVERYWHERE,), (ANY,), (ANY,))
READ_ONLY = Permissions(read=(ANY,))
UNLIMITED = Permissions(unlimited=True)
KINDS = ("write", "bash", "read")


def parse_permissions(texts: Iterable[str]) -> Permissions:
    """The permissions that these texts name; those that `problems` reports are left out."""
    said = list(texts)
    if "all" in said:
        return UNLIMITED
    pairs = [text.partition(":")[::2] for text in said if not _permission_problem(text)]
    globs = {kind: tuple(g.strip() for k, g in pairs if k.strip() == kind) for kind in KINDS}
    return Permissions(globs["write"], globs["bash"], globs["read"] or (ANY,))


def check_permissions(texts: Iterable[str], place: Place) -> Iterator[Finding]:
    for text in texts:
        if text != "all" and (why := _permission_problem(text)):
            fix = "use write:GLOB, bash:COMMAND, read:GLOB or all"
            yield Finding("bad-permission", f"'{text}' is not a permission: {why}", place, fix)


def _permission_problem(text: str) -> str:
    kind, colon, glob = text.partition(":")
    if not colon or kind.strip() not in KINDS:
        return "it does not begin with write:, bash: or read:"
    glob = glob.strip()
    if not glob:
        return "nothing follows the colon"
    if kind.strip() == "write" and (glob.startswith(("/", "~")) or ".." in glob.split("/")):
        return "it points outside the workspace"
    return ""
