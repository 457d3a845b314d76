"""Texts of people, agents and programs on their way into a run: kept without the secrets in them.

Every fact passes here before it is believed, every wish before it is left. Only what somebody wrote
is looked at: names, paths and digests of ours stay what they are, whatever they resemble.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from porch.machine import facts as f
from porch.system.variables import read_environment

if TYPE_CHECKING:  # most facts of short commands have no text, and then nothing is looked for
    from porch.agents.redaction import Redactor

# By fact: the fields that hold what somebody wrote, themselves or somewhere inside.
_TEXTS: Mapping[type, tuple[str, ...]] = {
    f.RunStarted: ("title", "heading", "inputs"),
    f.RunAdopted: ("notes", "items", "start"),
    f.ExitAccepted: ("notes", "said", "uncompared", "outside"),
    f.TurnEndedSilent: ("notes", "said", "uncompared", "outside"),
    f.EffectInterrupted: ("outside",),
    f.EffectStopped: ("outside",),
    f.CommandsDue: ("results",),
    f.EffectFailed: ("detail", "outside"),
    f.CheckEnded: ("report", "outside"),
    f.ReviewEnded: ("summary", "findings", "why", "outside"),
    f.ItemsRead: ("items", "notes"),
    f.CommitEnded: ("refused",),
    f.WorkFinished: ("url", "accepted", "not_passed", "reason"),
    f.WishTaken: ("wish",),
    f.WishRefused: ("wish", "reason"),
    f.Wish: ("text", "claimed"),
    f.Item: ("title", "description", "text"),
}
# Words among names and paths: here a secret is known by its shape alone, for the value of some
# variable may well be a path.
_MIXED: Mapping[type, tuple[str, ...]] = {
    f.RunStarted: ("spec",),
    f.GitEnded: ("payload",),
    f.QuestionPosed: ("payload",),
}
# Of what a wish carries only these are words; the others say what it is for.
_WORDS_OF_WISH = ("form", "items")
Redact = Callable[[str], str]


def redact_text(text: str) -> str:
    """The text with a mask for each secret that is known by its value or its shape."""
    if not text:
        return text
    from porch.agents.redaction import find_secrets

    return _make_redactor(find_secrets(read_environment())).text(text)


def _redact_shapes(text: str) -> str:
    return _make_redactor(()).text(text) if text else text


@lru_cache(maxsize=4)
def _make_redactor(secrets: tuple[str, ...]) -> "Redactor":
    from porch.agents.redaction import Redactor

    return Redactor(secrets)


def redact_value(value: Any, redact: Redact = redact_text) -> Any:
    """The same for all texts in a value."""
    if isinstance(value, str):
        return redact(value)
    if type(value) in _TEXTS:
        return redact_fact(value)
    if isinstance(value, Mapping):
        return {key: redact_value(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redact_value(item, redact) for item in value)
    return value


def redact_fact(fact: Any) -> Any:
    """A fact without the secrets in its texts; the same one if there are none."""
    kind = type(fact)
    news = {name: redact_value(getattr(fact, name)) for name in _TEXTS.get(kind, ())}
    for name in _MIXED.get(kind, ()):
        news[name] = redact_value(getattr(fact, name), _redact_shapes)
    if kind is f.Wish and fact.data:
        news["data"] = _redact_words(fact.data)
    changed = {name: value for name, value in news.items() if value != getattr(fact, name)}
    return replace(fact, **changed) if changed else fact


def _redact_words(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: redact_value(value) if key in _WORDS_OF_WISH else value for key, value in data.items()
    }


def redact_wish(wish: Mapping[str, Any]) -> dict[str, Any]:
    """A wish as it may lie in an inbox, where it can stay for long."""
    kept = dict(wish)
    if isinstance(kept.get("text"), str):
        kept["text"] = redact_text(kept["text"])
    if isinstance(kept.get("data"), Mapping):
        kept["data"] = _redact_words(kept["data"])
    return kept
