"""A git during which porch is killed with its children, at some call of it."""

import os
import re
import shutil
from pathlib import Path

# At the call that is chosen: the git is at work for an instant, or it has locked what it is about
# to write and comes no further. Then nobody of them lives, and nobody tidies up.
_GIT = """#!/bin/sh
read -r left < "$0.left"
left=$((left - 1))
echo $left > "$0.left"
[ $left -eq 0 ] || exec {git} "$@"
if [ -n "{nap}" ]; then
  {git} "$@" <&0 &
  sleep {nap}
  kill -9 $PPID $! 2> /dev/null
  kill -9 $$
fi
place=. common= before= locks= is_ref=
for word; do
  [ "$before" = -C ] && place=$word
  case $before:$word in
    worktree:add) ;; # git needs no lock of this index for that, only for one in the new worktree
    *:read-tree|*:update-index|*:reset|*:checkout|*:add)
      locks="$locks ${{GIT_INDEX_FILE:-index}}" ;;
  esac
  before=$word
  case $word in
    update-ref|branch|worktree|push) is_ref=yes ;;
  esac
  case $is_ref:$word in
    yes:refs/*) locks="$locks $word" ;;
    yes:HEAD) locks="$locks HEAD $({git} -C "$place" symbolic-ref -q HEAD)" ;;
    yes:--stdin|yes:-d|yes:-D) locks="$locks packed-refs" ;;
  esac
done
for name in $locks; do
  case $name in /*) ;; *) name=$({git} -C "$place" rev-parse --git-path "$name") ;; esac
  case $name in /*) ;; *) name=$place/$name ;; esac
  [ -d "$(dirname "$name")" ] && (set -C; : > "$name.lock") 2> /dev/null
done
kill -9 $PPID
kill -9 $$
"""


_NAMED = re.compile(r"(\S+\.lock) exists")


def remove_named_locks(root: Path, told: str) -> bool:
    """As a person does it who reads what a command says; whether there was anything to remove."""
    names = tuple(f"/{name}" for name in _NAMED.findall(told))
    found = [path for path in (root / ".git").rglob("*.lock") if str(path).endswith(names)]
    for path in found:
        path.unlink()
    return bool(found)


class KillingGit:
    """Put in front of the real one by `path`, the PATH of whoever is to be killed."""

    def __init__(self, place: Path) -> None:
        self._place = place
        place.mkdir(exist_ok=True)
        self.path = f"{place}:{os.environ['PATH']}"

    def arm(self, call: int, nap_s: float | None) -> None:
        """Kill at this call: after so long, or, without that, with everything locked."""
        nap = "" if nap_s is None else f"{nap_s:.4f}"
        shim = self._place / "git"
        shim.write_text(_GIT.format(git=shutil.which("git"), nap=nap))
        shim.chmod(0o755)
        (self._place / "git.left").write_text(f"{call}\n")

    def count_calls(self, armed: int) -> int:
        return armed - int((self._place / "git.left").read_text())
