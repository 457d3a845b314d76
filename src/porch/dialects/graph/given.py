"""What the engine itself says: the exits of its own actors and the paths that only it fills."""

from collections.abc import Mapping

from porch.model import types as t

Fields = Mapping[str, str]

# First words of paths and of targets that no state may take for itself.
ROOTS = ("parent", "instance", "engine")
DUE = "due"
# What every prompt has, whatever its input is called.
PROMPT = ("memory", "budget", "commands", "where", "instance")


def record(fields: Fields) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse(text)) for name, text in fields.items()))


# Types that every graph knows, beside those it declares.
TYPES: Mapping[str, t.Type] = {
    "Evidence": record({"name": "Text", "result": "Text", "report": "Text"}),
    "Why": record({"kind": "Text", "payload": "Text"}),
    "Count": record({"count": "Int", "spent": "Int", "limit": "Int", "left": "Int"}),
    "Node": record({"nodeId": "Text", "branch": "Text"}),
}
_REASON: Fields = {"reason": "Text"}
_REFUSAL: Fields = {"reason": "Text", "details": "Text", "failingTests": "[Text]"}
_TROUBLE: Fields = {"base": "Commit", "kind": "Text", "files": "[FilePath]", "report": "Text"}

GIT: Mapping[str, Mapping[str, Fields]] = {
    "integrate": {"clean": {"commit": "Commit"}, "conflict": _REFUSAL, "refused": _REASON},
    "contract": {
        "clean": {"report": "Text"},
        "conflict": _REASON,
        "refused": {"children": "[Text]", "report": "Text"},
    },
    "candidate": {
        "clean": {"commit": "Commit", "old": "Commit", "evidence": "[Evidence]"},
        "conflict": _REFUSAL,
        "refused": _REFUSAL,
    },
    "publish": {"clean": {"commit": "Commit"}, "conflict": _REASON, "refused": _REASON},
    "update": {
        "clean": {"base": "Commit", "commit": "Commit"},
        "conflict": _TROUBLE,
        "refused": _TROUBLE,
    },
}
HUMAN: Fields = {"text": "Text", "by": "Text"}
# What the engine knows only for a moment: when it fills a field, when it writes a prompt.
FILLED: Fields = {"head": "Commit", "patch": "Text"}
SHOWN: Fields = {"diff": "Blob", "evidence": "[Evidence]"}
# Fields of `engine.children`; those of siblings and updates have the type of the merge event.
CHILDREN: Fields = {"allowed": "Bool", "most": "Int"}
INSTANCE: Fields = {
    "id": "Text",
    "name": "Text",
    "branch": "Text",
    "target": "Node",
    "node": "Node",
    "depth": "Int",
    "revision": "Maybe Why",
}
