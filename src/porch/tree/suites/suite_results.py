"""What a run of a test suite proves: red before the work, green after it, nothing broken by it."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.text.late_pattern import late_pattern

CaseResult = Literal["passed", "failed", "error", "skipped"]
SUITE_ID = "suite"
MOST_TEXT = 500
_MOST_NAMED = 5
_COUNT_WORDS = {"passed": "passed", "failed": "failed", "error": "in error", "skipped": "skipped"}
_LOSS_WORDS = {"failed": "fails", "error": "ends in an error", "skipped": "is skipped"}
_CLIP_GAP = " ... "

_MISSING_SYMBOL = late_pattern(
    r"ImportError|ModuleNotFoundError|NameError|AttributeError|NoMethodError|LoadError"
    r"|cannot (?:find|import|resolve|load)|could not (?:find|resolve)|can't (?:find|resolve)"
    r"|undefined|undeclared|unresolved|uninitialized constant|no such module|no exported member"
    r"|not (?:in scope|defined|declared|exported)|not found in this scope|symbol not found"
    r"|(?:was not|wasn't) declared|has no (?:member|attribute)|unknown (?:module|identifier)",
    re.IGNORECASE,
)
# With the colon or the line number of a compiler: a test may well be called test_syntax_error.
_SYNTAX_ERROR = late_pattern(
    r"\b(?:SyntaxError|IndentationError|TabError): "
    r"|:\d+: (?:error: )?(?:syntax|parse) error",
    re.IGNORECASE,
)
_UNCOLLECTED_TESTS = late_pattern(
    r"collection (?:failure|error)|error collecting|compil\w+ (?:error|fail)", re.IGNORECASE
)
# Runners that call it a failure when a file of tests did not build.
_UNBUILT_TESTS = late_pattern(r"\[(?:build|setup) failed\]|test suite failed to run", re.IGNORECASE)
_STEP_SEPARATOR = late_pattern(r"[./]")
_STEP_OR_METHOD_SEPARATOR = late_pattern(r"[./#]")
_EXTENSION = late_pattern(r"\.\w+$")
# Names of classes begin behind these directories.
_SOURCE_ROOT = late_pattern(r"^(?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)/")


class SuiteCase(Struct, frozen=True):
    """One test and what became of it, as the runner's report has it."""

    id: str
    result: CaseResult
    text: str = ""
    file: str = ""


class SuiteRun(Struct, frozen=True):
    """One run of the suite command; a broken one could not be run and proves nothing."""

    status: Literal["ran", "broken"]
    code: int = 0
    cases: tuple[SuiteCase, ...] = ()
    report: str = ""
    has_cases: bool = True


def make_suite_run(code: int, cases: tuple[SuiteCase, ...] | None, report: str) -> SuiteRun:
    """A finished run; without a report, or with an empty one of a failure, one case is all."""
    if cases or (cases is not None and code == 0):
        return SuiteRun("ran", code, cases, report)
    whole = SuiteCase(SUITE_ID, "failed" if code else "passed", clip_text(report))
    return SuiteRun("ran", code, (whole,), report, has_cases=False)


def clip_text(text: str) -> str:
    """One line; of a long text the beginning, and more of the end, where most runners say why."""
    line = " ".join(text.split())
    if len(line) <= MOST_TEXT:
        return line
    head = MOST_TEXT // 3
    return line[:head] + _CLIP_GAP + line[head + len(_CLIP_GAP) - MOST_TEXT :]


def explain_not_red(
    new: SuiteRun,
    old: SuiteRun | None,
    known: Collection[str],
    *,
    has_work: bool = False,
    changed: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """Why the new tests prove nothing yet, and what a reviewer should know besides.

    Where work is there already, red is asked of what is missing: what passes proves that work. A
    test that did not pass is as good as new once its file is changed: somebody has corrected it.
    """
    if new.status == "broken":
        return [_describe_broken_run(new)], []
    if not new.has_cases:
        if has_work and new.code == 0:
            return [], ["the suite passes with the new tests; work of before is there already"]
        return _explain_not_red_by_code(new, old)
    names = frozenset(known) - _list_corrected_ids(new, old, changed)
    fresh = [case for case in new.cases if case.id not in names]
    there = [case for case in fresh if has_work and case.result == "passed"]
    reasons = [why for case in fresh if case not in there and (why := _explain_case_not_red(case))]
    if not fresh:
        reasons.append("no new test was run: every test existed before")
    lost, notes = _list_lost_tests(new, old, names)
    notes += [f"{case.id} passes already, by work of before" for case in there]
    notes += [f"{case.id} ended in an error, not in a failure" for case in _list_error_cases(fresh)]
    return reasons + lost, notes


def _list_corrected_ids(
    new: SuiteRun, old: SuiteRun | None, changed: Collection[str]
) -> frozenset[str]:
    passed = {case.id for case in _list_passed_cases(old)}
    of_changed = (c for c in new.cases if any(is_case_of_path(c, path) for path in changed))
    return frozenset(case.id for case in of_changed if case.id not in passed)


def _explain_not_red_by_code(new: SuiteRun, old: SuiteRun | None) -> tuple[list[str], list[str]]:
    note = f"only the exit code of the suite is known ({new.code}), not which test failed"
    if new.code == 0:
        return ["the suite passes with the new tests: at least one of them must fail"], []
    if _names_missing_symbol(new.report):
        return [], [note]
    reported = old is not None and old.status == "ran" and old.has_cases
    if reported or _SYNTAX_ERROR.search(new.report):
        why = "gave no report of its cases, and its output names no missing symbol"
        return [f"the suite ended with code {new.code}, {why}: {clip_text(new.report)}"], []
    return [], [note]


def _explain_case_not_red(case: SuiteCase) -> str:
    if case.result == "passed":
        return f"{case.id} passes already: a new test must fail until the work is done"
    if case.result == "skipped":
        return f"{case.id} is skipped: a new test must run and fail"
    if _is_unbuilt(case) and not _names_missing_symbol(case.text):
        return f"{case.id} could not be built, but not because of a missing symbol: {case.text}"
    return ""


def _list_error_cases(fresh: Iterable[SuiteCase]) -> list[SuiteCase]:
    return [case for case in fresh if case.result == "error" and not _is_unbuilt(case)]


def _is_unbuilt(case: SuiteCase) -> bool:
    """Whether this stands for a file of tests that never came to run."""
    if case.result == "failed":
        return bool(_UNBUILT_TESTS.search(case.text))
    signs = (_UNCOLLECTED_TESTS, _UNBUILT_TESTS, _SYNTAX_ERROR)
    says_so = "::" not in case.id or any(sign.search(case.text) for sign in signs)
    return case.result == "error" and says_so


def _names_missing_symbol(text: str) -> bool:
    return bool(_MISSING_SYMBOL.search(text)) and not _SYNTAX_ERROR.search(text)


def _list_lost_tests(
    new: SuiteRun, old: SuiteRun | None, known: frozenset[str]
) -> tuple[list[str], list[str]]:
    """Older tests that no longer pass; unseen ones are a note where a build error hides them."""
    now = {case.id: case.result for case in new.cases}
    held = [
        case
        for case in _list_passed_cases(old)
        if case.id in known and now.get(case.id) != "passed"
    ]
    modules = _list_unbuilt_modules(new)
    hidden = [case for case in held if case.id not in now and _is_in_modules(case.id, modules)]
    ids = {case.id for case in hidden}
    lost = [_describe_loss(case.id, now) for case in held if case.id not in ids]
    note = f"older tests did not run because of the build error: {_describe_few_cases(hidden)}"
    return lost, [note] if hidden else []


def _describe_loss(id: str, now: Mapping[str, CaseResult]) -> str:
    return f"{id} passed before and now {_LOSS_WORDS[now[id]] if id in now else 'is missing'}"


def _list_passed_cases(suite: SuiteRun | None) -> list[SuiteCase]:
    """What single cases proved; the case that stands for a whole suite is none."""
    cases = suite.cases if suite is not None and suite.has_cases else ()
    return [case for case in cases if case.result == "passed"]


def _list_unbuilt_modules(suite: SuiteRun) -> list[tuple[str, ...]]:
    """Most runners stop at a build error; one that went on hides only what is in that file."""
    unbuilt = [case for case in suite.cases if _is_unbuilt(case)]
    if unbuilt and len(unbuilt) == len(suite.cases):
        return [()]
    return [_split_steps(_STEP_SEPARATOR, case.id.rpartition("::")[2]) for case in unbuilt]


def _is_in_modules(id: str, modules: Iterable[tuple[str, ...]]) -> bool:
    steps = _split_id_steps(id)
    return any(steps[: len(module)] == module for module in modules)


def explain_not_green(suite: SuiteRun, needed: Collection[str] = ()) -> list[str]:
    """Why the suite does not prove the work; names are asked for only where cases are known."""
    if suite.status == "broken":
        return [_describe_broken_run(suite)]
    reasons = [
        f"{case.id} {_describe_case_end(case)}" for case in suite.cases if _is_bad_case(case)
    ]
    if not any(case.result == "passed" for case in suite.cases):
        reasons.append("no test passed, so nothing is proved")
    elif suite.code and not reasons:
        reasons.append(f"no test failed, but the suite command ended with code {suite.code}")
    return reasons + [why for name in needed if (why := _explain_name_not_met(suite, name))]


def _explain_name_not_met(suite: SuiteRun, name: str) -> str:
    found = find_named_cases(suite, name)
    if suite.has_cases and not found:
        return f"{name} was not run: no case of the report has this name"
    if found and all(case.result == "skipped" for case in found):
        return f"{name} was skipped, but it is required"
    return ""


def list_regressions(before: SuiteRun, after: SuiteRun) -> list[str]:
    """What passed and now fails, errs or is gone; a skipped case is not called a regression."""
    if before.status == "broken":
        return []
    if after.status == "broken":
        return [_describe_broken_run(after)]
    if not before.has_cases:
        return _list_regressions_by_code(before, after)
    if not after.has_cases and _list_passed_cases(before):
        return [
            f"the suite no longer reports its cases (code {after.code}): {clip_text(after.report)}"
        ]
    now = {case.id: case.result for case in after.cases}
    gone = [
        case for case in _list_passed_cases(before) if now.get(case.id) not in ("passed", "skipped")
    ]
    return [_describe_loss(case.id, now) for case in gone]


def _list_regressions_by_code(before: SuiteRun, after: SuiteRun) -> list[str]:
    if before.code or not (after.code or list_failing_ids(after)):
        return []
    return [f"the suite passed before and now fails: {describe_suite_run(after)}"]


def find_named_cases(suite: SuiteRun, name: str) -> list[SuiteCase]:
    """Cases that people mean by a name: the id, an end of it, or that of all its parameters."""
    base, parameter = _split_parameter(name)
    file, colons, rest = base.partition("::")
    bare = _EXTENSION.sub("", file) + colons + rest if colons else ""
    loose = () if colons else _split_steps(_STEP_OR_METHOD_SEPARATOR, base)
    asked = [steps for steps in {_split_id_steps(base), _split_id_steps(bare), loose} if steps]
    return [
        case
        for case in suite.cases
        if case.id == name or any(_is_meant_by_steps(case.id, steps, parameter) for steps in asked)
    ]


def _is_meant_by_steps(id: str, steps: tuple[str, ...], parameter: str) -> bool:
    # Looking for the last step first spares thousands of cases the taking apart.
    if steps[-1] not in id or parameter not in ("", _split_parameter(id)[1]):
        return False
    return _split_id_steps(id)[-len(steps) :] == steps


def list_missing_names(suite: SuiteRun, names: Iterable[str]) -> list[str]:
    """Names that no case answers to; nothing where only the exit code is known."""
    return [name for name in names if suite.has_cases and not find_named_cases(suite, name)]


def _split_parameter(id: str) -> tuple[str, str]:
    base, bracket, rest = id.partition("[")
    return (base, bracket + rest) if id.endswith("]") else (id, "")


def _split_id_steps(id: str) -> tuple[str, ...]:
    """The way to a test, without parameters. Its own name stays whole: sentences have dots."""
    head, _, name = _split_parameter(id)[0].rpartition("::")
    return (*_split_steps(_STEP_SEPARATOR, head.replace("::", "/")), *([name] if name else []))


def _split_steps(between: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(step for step in between.split(text) if step)


def is_case_of_path(case: SuiteCase, path: str) -> bool:
    """Whether a case comes from this test file or directory."""
    path = path.removeprefix("./").rstrip("/")
    head = _split_parameter(case.id)[0].rpartition("::")[0]
    file = case.file or (head.partition("::")[0] if "/" in head else "")
    if path in ("", "."):
        return True
    if file:
        return _is_inside(file.removeprefix("./"), path)
    return _is_inside_dotted(
        _split_steps(_STEP_SEPARATOR, (head or case.id).replace("::", ".")), path
    )


def _is_inside(file: str, path: str) -> bool:
    # The command may have changed directory first; then the report's path is an end of ours.
    return file == path or file.startswith(path + "/") or path.endswith("/" + file)


def _is_inside_dotted(steps: tuple[str, ...], path: str) -> bool:
    wanted = _split_steps(_STEP_SEPARATOR, _EXTENSION.sub("", _SOURCE_ROOT.sub("", path)))
    # A directory's last step alone (`tests`) would take in what others keep under that name.
    starts = range(len(wanted)) if _EXTENSION.search(path) else range(1)
    return any(steps[: len(wanted) - start] == wanted[start:] for start in starts)


def select_cases(suite: SuiteRun, paths: Collection[str]) -> SuiteRun:
    """The cases of these files alone; the exit code was about all of them, so it is judged anew."""
    if suite.status == "broken" or not suite.has_cases:
        return suite
    kept = tuple(case for case in suite.cases if any(is_case_of_path(case, path) for path in paths))
    code = suite.code if any(map(_is_bad_case, kept)) else 0
    return replace(suite, cases=kept, code=code)


def list_failing_ids(suite: SuiteRun) -> list[str]:
    return [case.id for case in suite.cases if _is_bad_case(case)]


def list_failing_paths(suite: SuiteRun, paths: Iterable[str]) -> list[str]:
    """Of these files and directories of tests, those with a case that failed.

    Only what failed is looked at for each of them: a large tree has many parts and many cases.
    """
    bad = [case for case in suite.cases if _is_bad_case(case)] if suite.has_cases else []
    named = [path for path in paths if path and bad]
    if suite.status == "broken":
        return named
    return [path for path in named if any(is_case_of_path(case, path) for case in bad)]


def describe_suite_run(suite: SuiteRun) -> str:
    """The counts, and the first failures with what they said."""
    if suite.status == "broken":
        return _describe_broken_run(suite)
    if not suite.has_cases:
        return f"the suite ended with code {suite.code}, without a report of its cases"
    results = [case.result for case in suite.cases]
    counts = [f"{results.count(r)} {word}" for r, word in _COUNT_WORDS.items() if r in results]
    bad = [case for case in suite.cases if _is_bad_case(case)]
    return (", ".join(counts) or "no cases") + (f": {_describe_few_cases(bad)}" if bad else "")


def _describe_few_cases(cases: list[SuiteCase]) -> str:
    shown = [
        f"{c.id} ({c.text})" if _is_bad_case(c) and c.text else c.id for c in cases[:_MOST_NAMED]
    ]
    more = len(cases) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _is_bad_case(case: SuiteCase) -> bool:
    return case.result in ("failed", "error")


def _describe_case_end(case: SuiteCase) -> str:
    how = "failed" if case.result == "failed" else "ended in an error"
    return f"{how}: {case.text}" if case.text else how


def _describe_broken_run(suite: SuiteRun) -> str:
    return f"the suite could not be run: {clip_text(suite.report)}"
