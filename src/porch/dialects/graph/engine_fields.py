"""What the engine itself says: the exits of its own actors and the paths that only it fills."""

from collections.abc import Mapping

from porch.model import types as t

FieldTypes = Mapping[str, str]

# First words of paths and of targets that no state may take for itself.
PATH_ROOTS = ("parent", "instance", "engine")
DUE_TARGET = "due"
# What every prompt has, whatever its input is called.
PROMPT_NAMES = ("memory", "budget", "commands", "where", "instance")


def parse_record(fields: FieldTypes) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


# Types that every graph knows, beside those it declares.
ENGINE_TYPES: Mapping[str, t.Type] = {
    "Evidence": parse_record({"name": "Text", "result": "Text", "report": "Text"}),
    # What was said at an exit: the fields of whichever exit it was, so no path goes on from it.
    "Said": t.Record(()),
    "Why": parse_record({"kind": "Text", "payload": "Said"}),
    "Count": parse_record({"count": "Int", "spent": "Int", "limit": "Int", "left": "Int"}),
    "Node": parse_record({"nodeId": "Text", "branch": "Text"}),
}
_REASON: FieldTypes = {"reason": "Text"}
_REFUSAL: FieldTypes = {"reason": "Text", "details": "Text", "failingTests": "[Text]"}
_TROUBLE: FieldTypes = {"base": "Commit", "kind": "Text", "files": "[FilePath]", "report": "Text"}

GIT_EXITS: Mapping[str, Mapping[str, FieldTypes]] = {
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
# A child that has failed, as its parent is told; its spec, of the type of its graph, stands beside.
FAILED_CHILD: FieldTypes = {"id": "Text", "why": "Why"}
# What a person says at an option that asks for a text, and at one that does not.
HUMAN_ANSWER: FieldTypes = {"text": "Text", "by": "Text"}
HUMAN_CHOICE: FieldTypes = {"text": "Maybe Text", "by": "Text"}
# What the engine knows only for a moment: when it fills a field, when it writes a prompt.
FILLED_FIELDS: FieldTypes = {"head": "Commit", "patch": "Text"}
SHOWN_FIELDS: FieldTypes = {"diff": "Blob", "evidence": "[Evidence]"}
# Fields of `engine.children`; those of siblings and updates have the type of the merge event.
CHILDREN_FIELDS: FieldTypes = {"allowed": "Bool", "most": "Int"}
INSTANCE_FIELDS: FieldTypes = {
    "id": "Text",
    "name": "Text",
    "branch": "Text",
    "target": "Node",
    "node": "Node",
    "depth": "Int",
    "revision": "Maybe Why",
}
