"""What pages have shown of files, for a while: whoever comes too late is told what is different."""

from collections import OrderedDict
from collections.abc import Iterator
from difflib import unified_diff

from porch.run.decisions.asked_files import AskedFiles

_MOST = 50
_LARGEST = 1_000_000
_LONGEST = 20_000


class ShownFiles:
    """The last few versions that somebody looked at, by their digest."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AskedFiles] = OrderedDict()

    def keep(self, shown: AskedFiles) -> None:
        if sum(len(each.text) for each in shown.files) > _LARGEST:
            return
        self._known[shown.digest] = shown
        self._known.move_to_end(shown.digest)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)

    def describe_moves(self, digest: str, now: AskedFiles) -> list[tuple[str, str]]:
        """Each file that is different now, with its lines; empty if what was shown is not known."""
        then = self._known.get(digest)
        return list(_compare(then, now)) if then else []


def _compare(then: AskedFiles, now: AskedFiles) -> Iterator[tuple[str, str]]:
    before = {each.path: each for each in then.files}
    for each in now.files:
        old = before.get(each.path)
        if old is None or old.digest != each.digest:
            lines = unified_diff(
                (old.text if old else "").splitlines(),
                each.text.splitlines(),
                f"{each.path} (as it was shown)",
                f"{each.path} (now)",
                lineterm="",
                n=2,
            )
            yield each.path, "\n".join(lines)[:_LONGEST] or each.trouble or "it has other bytes"
