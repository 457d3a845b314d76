"""What a git state of a graph is about, each input under a name of its own.

Found by the ending of a field's name, an approval was lost as soon as somebody renamed the field.
"""

from collections.abc import Mapping

from porch.dialects.graph import engine_fields
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.word_lists import read_path, read_paths
from porch.model import protocol as p
from porch.text.fields import Fields

APPROVED, OWN, CANDIDATE = "approved", "own", "candidate"
PATCH = "engine.patch"
CANDIDATE_RECORD = engine_fields.parse_record(engine_fields.GIT_EXITS["candidate"]["clean"])
# What each operation must be given by name, and how that is written.
NAMED_INPUTS: Mapping[str, Mapping[str, str]] = {
    "candidate": {
        APPROVED: "write `approved: Exit.field`, a field that is filled with `= engine.patch`",
        OWN: "write `own: [paths]`: where the tests lie that must be green",
    },
    "publish": {CANDIDATE: "write `candidate: state.clean`, of the state that makes it"},
}


def read_git_actor(op: p.GitOp, fields: Fields, meaning: PathMeanings) -> p.Git:
    named = NAMED_INPUTS.get(op, {})
    git = p.Git(
        op=op,
        message=fields.text("message"),
        reads=() if named else tuple(read_paths(fields, "reads", meaning)),
        approved=read_path(fields, APPROVED, meaning) if APPROVED in named else "",
        own=tuple(read_paths(fields, OWN, meaning)) if OWN in named else (),
        candidate=read_path(fields, CANDIDATE, meaning) if CANDIDATE in named else "",
    )
    _report_missing_inputs(named, fields, meaning)
    if git.approved and _filled_with(git.approved, meaning) != PATCH:
        _report_wrong_input(APPROVED, f"{git.approved} is not a hash of a patch", fields, meaning)
    if git.candidate and meaning.type_of(git.candidate) != CANDIDATE_RECORD:
        _report_wrong_input(CANDIDATE, f"{git.candidate} is not a candidate", fields, meaning)
    return git


def _report_missing_inputs(named: Mapping[str, str], fields: Fields, meaning: PathMeanings) -> None:
    for key, fix in named.items():
        if key not in fields:
            message = f"{fields.what} does not name '{key}'"
            meaning.notes.report("missing-key", message, fields.node.place, fix)


def _report_wrong_input(key: str, why: str, fields: Fields, meaning: PathMeanings) -> None:
    fix = next(each[key] for each in NAMED_INPUTS.values() if key in each)
    meaning.notes.report("wrong-value", f"'{key}' of {fields.what}: {why}", fields.place(key), fix)


def _filled_with(path: str, meaning: PathMeanings) -> str:
    """The path from which the engine fills a field; empty if an agent answers it."""
    state, _, rest = path.partition(".")
    exit_, _, field = rest.partition(".")
    declared = meaning.declared.get(state, {}).get(exit_)
    filled = declared.filled.get(field) if declared else None
    return filled.text if filled else ""
