"""Text in scripts that are written without spaces, made such that its words are found.

Chinese, Japanese, Thai and some others are written without spaces, and Korean joins particles to
its nouns. There each character is a word of the index, and a phrase is cut into overlapping pairs
of characters, as the CJK analyzer of Lucene does: what two texts call the same shares a pair.
"""

from __future__ import annotations

# Thai and Lao, Burmese, Khmer, kana, Han, Hangul, and the half-width forms of kana.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# SQLite splits words at it, and no document has it.
_SEPARATOR = "\x1f"


def separate_characters(text: str) -> str:
    """The text with each character of such a script as a word of its own, for the index."""
    if text.isascii():
        return text
    # Imported late: a search for plain words must not pay for it.
    import re

    return re.sub(f"[{_UNSPACED}]", f"{_SEPARATOR}\\g<0>{_SEPARATOR}", text)


def join_characters(text: str) -> str:
    """The text as it was before `separate_characters`."""
    return text.replace(_SEPARATOR, "")


def split_run(run: str) -> list[str]:
    """A run is one word, or pairs of characters where the script has no spaces."""
    if run.isascii():
        return [run]
    import re

    words = []
    for unspaced, spaced in re.findall(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)", run):
        pairs = [unspaced[at : at + 2] for at in range(len(unspaced) - 1)]
        words += [spaced] if spaced else pairs or [unspaced]
    return words
