"""Programs that only start another one: they stand above a command and are gone right after it."""

import contextlib
import os

from porch.text.late_pattern import late_pattern

_SHELLS = "sh bash dash ash zsh ksh mksh fish csh tcsh nu xonsh pwsh busybox"
_WRAPPERS = (
    "env timeout gtimeout time nohup sudo doas su runuser setpriv chroot nice ionice chrt taskset "
    "stdbuf setsid script unbuffer strace flock xargs parallel unshare nsenter bwrap firejail "
    "codex-linux-san direnv dotenv xvfb-run faketime tini dumb-init"
)
_RUNNERS = (
    "uv uvx pipx poetry pdm hatch rye pixi conda mamba micromamba tox nox npx npm pnpm pnpx yarn "
    "bunx cross-env mise asdf nix nix-shell make gmake ninja just task rake envoy porch"
)
LAUNCHERS = frozenset(f"{_SHELLS} {_WRAPPERS} {_RUNNERS}".split())
_INTERPRETER = late_pattern(r"(?:python|pypy|node|nodejs|ruby|perl)[0-9.]*$")
_ENDING = late_pattern(r"(?:-cli)?\.(?:c?js|mjs|py|pyz|rb|sh)$")


def is_launcher(pid: int) -> bool:
    """By its name, or, where an interpreter runs it, by that of its script."""
    name = _read_file(f"/proc/{pid}/comm").strip()
    if not name:
        return True
    # Some call themselves after all of their words.
    if name.split()[0].lstrip("-") in LAUNCHERS:
        return True
    words = [word for word in _read_file(f"/proc/{pid}/cmdline").split("\0") if word]
    return bool(words) and _script_name(words) in LAUNCHERS


def _script_name(words: list[str]) -> str:
    """What an interpreter was started with; of any other program, its own name."""
    if not _INTERPRETER.match(os.path.basename(words[0])):
        return os.path.basename(words[0])
    rest = words[1:]
    if "-m" in rest[:3]:
        return rest[rest.index("-m") + 1] if rest[-1] != "-m" else ""
    script = next((word for word in rest if not word.startswith("-")), "")
    # What was given with -c is nobody's name.
    return "" if "-c" in rest[:3] else _ENDING.sub("", os.path.basename(script))


def _read_file(path: str) -> str:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(4096).decode("utf-8", "replace")
    return ""
