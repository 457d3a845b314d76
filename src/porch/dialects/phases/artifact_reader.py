"""The files that a phase, a gate or a commit names: plain names, or patterns from the top.

A name without a slash lies in the directory of the project. Anything with a slash begins at the top
of the repository, unless it begins with `${PROJECT_DIR}/`.
"""

from porch.dialects.phases.mapping_reader import (
    Findings,
    StrictFields,
    check_stays_inside,
    did_you_mean,
)
from porch.errors import Finding
from porch.model.artifact_names import (
    CHANGES,
    PROJECT_DIR,
    TOP,
    VARIABLES,
    has_wildcard,
    join_alternatives,
    list_variables,
    remove_variables,
)
from porch.model.path_globs import find_glob_problem
from porch.text.late_pattern import late_pattern
from porch.text.nodes import ListNode, MapNode, Node, ScalarNode

# The second name is where other projects of this format keep the same.
_DEFAULT_FILES = {
    "specify": ("spec.md", "codev/specs"),
    "plan": ("plan.md", "codev/plans"),
    "review": ("review.md", "codev/reviews"),
}
# Its gate may be about something else, such as a pull request.
_OPTIONAL = ("review",)
_PROMPT_WORDS = {
    "project_id": "${PROJECT_ID}",
    "title": "${PROJECT_TITLE}",
    "artifact_name": "${PROJECT_ID}-${PROJECT_TITLE}",
    "project_dir": "${PROJECT_DIR}",
    "plan_phase_id": "${PLAN_PHASE_ID}",
    "issue.number": "${PROJECT_ID}",
}
_WORD = late_pattern(r"\{\{\s*([\w.]+)\s*\}\}|\$(\w+)")


def read_gate_files(form: StrictFields, *keys: str) -> tuple[str, ...]:
    """What a gate is about: files, or everything that the run has changed."""
    words = [word for key in keys for word in form.words(key)]
    changes = (CHANGES,) if any(word.text == CHANGES for word in words) else ()
    names = (read_file_name(word, form.findings) for word in words if word.text != CHANGES)
    return (*changes, *filter(None, names))


def read_files(form: StrictFields, *keys: str, directories: bool = False) -> tuple[str, ...]:
    words = (word for key in keys for word in form.words(key))
    names = (read_file_name(word, form.findings, directories=directories) for word in words)
    return tuple(filter(None, names))


def read_file_name(word: ScalarNode, findings: Findings, *, directories: bool = False) -> str:
    """One name as the model has it; empty if it means nothing, which is then reported."""
    if not check_stays_inside(word, findings):
        return ""
    text = _WORD.sub(lambda found: _spell_variable(found[0], found[1] or found[2]), word.text)
    for name in list_variables(text):
        if name not in VARIABLES:
            message = f"'{name[:80]}' is not a variable of file names"
            fix = did_you_mean(name, VARIABLES) or f"known variables: {', '.join(VARIABLES)}"
            findings.append(Finding("unknown-variable", message, word.place, fix))
            return ""
    text = text.strip().removeprefix("./")
    if word.text == CHANGES:
        message = f"'{CHANGES}' is no file: only a gate can be about all changes"
        findings.append(Finding("wrong-value", message, word.place, "name the file"))
        return ""
    problem = find_glob_problem(remove_variables(text) or "x")
    problem = problem or ("'|' has no meaning" if "|" in text else "")
    if text.endswith("/") and not directories:
        problem = problem or "it ends in a slash"
    if problem:
        message = f"'{word.text[:80]}' is no name of files: {problem}"
        fix = "write a path such as codev/specs/${PROJECT_ID}-*.md"
        findings.append(Finding("wrong-value", message, word.place, fix))
        return ""
    if "/" in text:
        return TOP + text
    return PROJECT_DIR + text if list_variables(text) or has_wildcard(text) else text


def _spell_variable(text: str, name: str) -> str:
    word = _PROMPT_WORDS.get(name) if text.startswith("{") else None
    return word or f"${{{name}}}"


def names_shared_directories(node: Node) -> bool:
    """Whether a file says anywhere that documents lie in codev/specs and its like."""
    if isinstance(node, MapNode):
        return any(names_shared_directories(entry.value) for entry in node.entries)
    if isinstance(node, ListNode):
        return any(map(names_shared_directories, node.items))
    text = node.text if isinstance(node, ScalarNode) else ""
    return any(f"{directory}/" in text for _, directory in _DEFAULT_FILES.values())


def list_default_files(phase: str, is_shared: bool) -> tuple[str, ...]:
    """What a phase writes if the file does not say it."""
    if phase not in _DEFAULT_FILES:
        return ()
    name, directory = _DEFAULT_FILES[phase]
    both = (name, f"{TOP}{directory}/${{PROJECT_ID}}-*.md")
    is_optional = phase in _OPTIONAL
    return (join_alternatives(*(both[::-1] if is_shared else both), optional=is_optional),)
