"""What a run of a test suite proves: red before the work, green after it, nothing broken by it."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Result = Literal["passed", "failed", "error", "skipped"]
SUITE = "suite"
MOST_TEXT = 500
_MOST_NAMED = 5
_COUNTED = {"passed": "passed", "failed": "failed", "error": "in error", "skipped": "skipped"}
_BECAME = {"failed": "fails", "error": "ends in an error", "skipped": "is skipped"}
_GAP = " ... "

_MISSING = re.compile(
    r"ImportError|ModuleNotFoundError|NameError|AttributeError|NoMethodError|LoadError"
    r"|cannot (?:find|import|resolve|load)|could not (?:find|resolve)|can't (?:find|resolve)"
    r"|undefined|undeclared|unresolved|uninitialized constant|no such module|no exported member"
    r"|not (?:in scope|defined|declared|exported)|not found in this scope|symbol not found"
    r"|(?:was not|wasn't) declared|has no (?:member|attribute)|unknown (?:module|identifier)",
    re.IGNORECASE,
)
# With the colon or the line number of a compiler: a test may well be called test_syntax_error.
_SYNTAX = re.compile(
    r"\b(?:SyntaxError|IndentationError|TabError): "
    r"|:\d+: (?:error: )?(?:syntax|parse) error",
    re.IGNORECASE,
)
_UNCOLLECTED = re.compile(
    r"collection (?:failure|error)|error collecting|compil\w+ (?:error|fail)", re.IGNORECASE
)
# Runners that call it a failure when a file of tests did not build.
_UNBUILT = re.compile(r"\[(?:build|setup) failed\]|test suite failed to run", re.IGNORECASE)
_BETWEEN = re.compile(r"[./]")
_BETWEEN_OR_METHOD = re.compile(r"[./#]")
_EXTENSION = re.compile(r"\.\w+$")
# Names of classes begin behind these directories.
_SOURCE_ROOT = re.compile(r"^(?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)/")


@dataclass(frozen=True, slots=True)
class Case:
    """One test and what became of it, as the runner's report has it."""

    id: str
    result: Result
    text: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of the suite command; a broken one could not be run and proves nothing."""

    status: Literal["ran", "broken"]
    code: int = 0
    cases: tuple[Case, ...] = ()
    report: str = ""
    has_cases: bool = True


def ran(code: int, cases: tuple[Case, ...] | None, report: str) -> Suite:
    """A finished run; without a report, or with an empty one of a failure, one case is all."""
    if cases or (cases is not None and code == 0):
        return Suite("ran", code, cases, report)
    whole = Case(SUITE, "failed" if code else "passed", clip(report))
    return Suite("ran", code, (whole,), report, has_cases=False)


def clip(text: str) -> str:
    """One line; of a long text the beginning, and more of the end, where most runners say why."""
    line = " ".join(text.split())
    if len(line) <= MOST_TEXT:
        return line
    head = MOST_TEXT // 3
    return line[:head] + _GAP + line[head + len(_GAP) - MOST_TEXT :]


def not_red(new: Suite, old: Suite | None, known: Collection[str]) -> tuple[list[str], list[str]]:
    """Why the new tests prove nothing yet, and what a reviewer should know besides."""
    if new.status == "broken":
        return [_unrun(new)], []
    if not new.has_cases:
        return _not_red_by_code(new, old)
    names = frozenset(known)
    fresh = [case for case in new.cases if case.id not in names]
    reasons = [why for case in fresh if (why := _why_not_red(case))]
    if not fresh:
        reasons.append("no new test was run: every case was there before")
    lost, notes = _lost(new, old, names)
    notes += [f"{case.id} ended in an error, not in a failure" for case in _astray(fresh)]
    return reasons + lost, notes


def _not_red_by_code(new: Suite, old: Suite | None) -> tuple[list[str], list[str]]:
    note = f"only the exit code of the suite is known ({new.code}): not which test is red"
    if new.code == 0:
        return ["the suite passes with the new tests in it: at least one of them must fail"], []
    if _names_missing(new.report):
        return [], [note]
    reported = old is not None and old.status == "ran" and old.has_cases
    if reported or _SYNTAX.search(new.report):
        why = "gave no report of its cases, and its output names no missing symbol"
        return [f"the suite ended with code {new.code}, {why}: {clip(new.report)}"], []
    return [], [note]


def _why_not_red(case: Case) -> str:
    if case.result == "passed":
        return f"{case.id} passes already: a new test must fail until the work is done"
    if case.result == "skipped":
        return f"{case.id} is skipped: a new test must run and fail"
    if _is_unbuilt(case) and not _names_missing(case.text):
        return f"{case.id} could not be built, and no missing symbol is why: {case.text}"
    return ""


def _astray(fresh: Iterable[Case]) -> list[Case]:
    return [case for case in fresh if case.result == "error" and not _is_unbuilt(case)]


def _is_unbuilt(case: Case) -> bool:
    """Whether this stands for a file of tests that never came to run."""
    if case.result == "failed":
        return bool(_UNBUILT.search(case.text))
    signs = (_UNCOLLECTED, _UNBUILT, _SYNTAX)
    says_so = "::" not in case.id or any(sign.search(case.text) for sign in signs)
    return case.result == "error" and says_so


def _names_missing(text: str) -> bool:
    return bool(_MISSING.search(text)) and not _SYNTAX.search(text)


def _lost(new: Suite, old: Suite | None, known: frozenset[str]) -> tuple[list[str], list[str]]:
    """Older tests that no longer pass; unseen ones are a note where a build error hides them."""
    now = {case.id: case.result for case in new.cases}
    held = [case for case in _passed(old) if case.id in known and now.get(case.id) != "passed"]
    modules = _unbuilt_modules(new)
    hidden = [case for case in held if case.id not in now and _is_under(case.id, modules)]
    ids = {case.id for case in hidden}
    lost = [_loss(case.id, now) for case in held if case.id not in ids]
    note = f"older tests did not run beside the build error: {_few(hidden)}"
    return lost, [note] if hidden else []


def _loss(id: str, now: Mapping[str, Result]) -> str:
    return f"{id} passed before and now {_BECAME[now[id]] if id in now else 'is missing'}"


def _passed(suite: Suite | None) -> list[Case]:
    """What single cases proved; the case that stands for a whole suite is none."""
    cases = suite.cases if suite is not None and suite.has_cases else ()
    return [case for case in cases if case.result == "passed"]


def _unbuilt_modules(suite: Suite) -> list[tuple[str, ...]]:
    """Most runners stop at a build error; one that went on hides only what is in that file."""
    unbuilt = [case for case in suite.cases if _is_unbuilt(case)]
    if unbuilt and len(unbuilt) == len(suite.cases):
        return [()]
    return [_split(_BETWEEN, case.id.rpartition("::")[2]) for case in unbuilt]


def _is_under(id: str, modules: Iterable[tuple[str, ...]]) -> bool:
    steps = _steps(id)
    return any(steps[: len(module)] == module for module in modules)


def not_green(suite: Suite, needed: Collection[str] = ()) -> list[str]:
    """Why the suite does not prove the work; names are asked for only where cases are known."""
    if suite.status == "broken":
        return [_unrun(suite)]
    reasons = [f"{case.id} {_ended(case)}" for case in suite.cases if _is_bad(case)]
    if not any(case.result == "passed" for case in suite.cases):
        reasons.append("no test passed, so nothing is proved")
    elif suite.code and not reasons:
        reasons.append(f"no case failed, yet the suite command ended with code {suite.code}")
    return reasons + [why for name in needed if (why := _why_not_met(suite, name))]


def _why_not_met(suite: Suite, name: str) -> str:
    found = named(suite, name)
    if suite.has_cases and not found:
        return f"{name} was not run: no case of the report has this name"
    if found and all(case.result == "skipped" for case in found):
        return f"{name} was skipped, and it is needed"
    return ""


def regressions(before: Suite, after: Suite) -> list[str]:
    """What passed and now fails, errs or is gone; a skipped case is not called a regression."""
    if before.status == "broken":
        return []
    if after.status == "broken":
        return [_unrun(after)]
    if not before.has_cases:
        return _regressed_by_code(before, after)
    if not after.has_cases and _passed(before):
        return [f"the suite no longer reports its cases (code {after.code}): {clip(after.report)}"]
    now = {case.id: case.result for case in after.cases}
    gone = [case for case in _passed(before) if now.get(case.id) not in ("passed", "skipped")]
    return [_loss(case.id, now) for case in gone]


def _regressed_by_code(before: Suite, after: Suite) -> list[str]:
    if before.code or not (after.code or failing(after)):
        return []
    return [f"the suite passed before and now does not: {summary(after)}"]


def named(suite: Suite, name: str) -> list[Case]:
    """Cases that people mean by a name: the id, an end of it, or that of all its parameters."""
    base, parameter = _parted(name)
    file, colons, rest = base.partition("::")
    bare = _EXTENSION.sub("", file) + colons + rest if colons else ""
    loose = () if colons else _split(_BETWEEN_OR_METHOD, base)
    asked = [steps for steps in {_steps(base), _steps(bare), loose} if steps]
    return [
        case
        for case in suite.cases
        if case.id == name or any(_is_meant(case.id, steps, parameter) for steps in asked)
    ]


def _is_meant(id: str, steps: tuple[str, ...], parameter: str) -> bool:
    # Looking for the last step first spares thousands of cases the taking apart.
    if steps[-1] not in id or parameter not in ("", _parted(id)[1]):
        return False
    return _steps(id)[-len(steps) :] == steps


def missing(suite: Suite, names: Iterable[str]) -> list[str]:
    """Names that no case answers to; nothing where only the exit code is known."""
    return [name for name in names if suite.has_cases and not named(suite, name)]


def _parted(id: str) -> tuple[str, str]:
    base, bracket, rest = id.partition("[")
    return (base, bracket + rest) if id.endswith("]") else (id, "")


def _steps(id: str) -> tuple[str, ...]:
    """The way to a test, without parameters. Its own name stays whole: sentences have dots."""
    head, _, name = _parted(id)[0].rpartition("::")
    return (*_split(_BETWEEN, head.replace("::", "/")), *([name] if name else []))


def _split(between: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(step for step in between.split(text) if step)


def belongs(case: Case, path: str) -> bool:
    """Whether a case comes from this test file or directory."""
    path = path.removeprefix("./").rstrip("/")
    head = _parted(case.id)[0].rpartition("::")[0]
    file = case.file or (head.partition("::")[0] if "/" in head else "")
    if path in ("", "."):
        return True
    if file:
        return _is_inside(file.removeprefix("./"), path)
    return _is_inside_dotted(_split(_BETWEEN, (head or case.id).replace("::", ".")), path)


def _is_inside(file: str, path: str) -> bool:
    # The command may have changed directory first; then the report's path is an end of ours.
    return file == path or file.startswith(path + "/") or path.endswith("/" + file)


def _is_inside_dotted(steps: tuple[str, ...], path: str) -> bool:
    wanted = _split(_BETWEEN, _EXTENSION.sub("", _SOURCE_ROOT.sub("", path)))
    # A directory's last step alone (`tests`) would take in what others keep under that name.
    starts = range(len(wanted)) if _EXTENSION.search(path) else range(1)
    return any(steps[: len(wanted) - start] == wanted[start:] for start in starts)


def part(suite: Suite, paths: Collection[str]) -> Suite:
    """The cases of these files alone; the exit code was about all of them, so it is judged anew."""
    if suite.status == "broken" or not suite.has_cases:
        return suite
    kept = tuple(case for case in suite.cases if any(belongs(case, path) for path in paths))
    code = suite.code if any(map(_is_bad, kept)) else 0
    return replace(suite, cases=kept, code=code)


def failing(suite: Suite) -> list[str]:
    return [case.id for case in suite.cases if _is_bad(case)]


def summary(suite: Suite) -> str:
    """The counts, and the first failures with what they said."""
    if suite.status == "broken":
        return _unrun(suite)
    if not suite.has_cases:
        return f"the suite ended with code {suite.code}, without a report of its cases"
    results = [case.result for case in suite.cases]
    counts = [f"{results.count(r)} {word}" for r, word in _COUNTED.items() if r in results]
    bad = [case for case in suite.cases if _is_bad(case)]
    return (", ".join(counts) or "no cases") + (f": {_few(bad)}" if bad else "")


def _few(cases: list[Case]) -> str:
    shown = [f"{c.id} ({c.text})" if _is_bad(c) and c.text else c.id for c in cases[:_MOST_NAMED]]
    more = len(cases) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _is_bad(case: Case) -> bool:
    return case.result in ("failed", "error")


def _ended(case: Case) -> str:
    how = "failed" if case.result == "failed" else "ended in an error"
    return f"{how}: {case.text}" if case.text else how


def _unrun(suite: Suite) -> str:
    return f"the suite could not be run: {clip(suite.report)}"
