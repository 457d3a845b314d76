"""Runs the tests below `tests` and writes a JUnit report as pytest does, without starting pytest.

A whole run of v3 runs its suite dozens of times, and only the report matters to it. Runs of a leaf
pay for the real pytest: `test_v3_leaf.py`, `test_v3_answers.py`, and the tests with real agents.
"""

import glob
import os
import sys
import traceback


def quote(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def describe(kind: str) -> str:
    """The exception that is being handled, as an element of the report."""
    text = traceback.format_exc()
    sys.stdout.write(text)
    return f'<{kind} message="{quote(text.splitlines()[-1])}">{quote(text)}</{kind}>'


def run_file(path: str) -> tuple[list[str], bool, bool]:
    """The cases of one file; whether one failed; whether the file could not be loaded."""
    module, cases, failed = path[:-3].replace("/", "."), list[str](), False
    names: dict[str, object] = {"__name__": module, "__file__": path}
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), names)
    except Exception:  # noqa: BLE001 - whatever a module raises is an error of the suite
        return (
            [f'<testcase classname="" name="{module}">{describe("error")}</testcase>'],
            True,
            True,
        )
    for name, test in list(names.items()):
        if not name.startswith("test") or not callable(test):
            continue
        verdict = ""
        try:
            test()
        except Exception:  # noqa: BLE001 - whatever a test raises is its failure
            verdict, failed = describe("failure"), True
        cases.append(f'<testcase classname="{module}" name="{name}">{verdict}</testcase>')
        sys.stdout.write(f"{'FAILED' if verdict else 'PASSED'} {path}::{name}\n")
    return cases, failed, False


def main() -> int:
    sys.path.insert(0, os.getcwd())
    files = [run_file(path) for path in sorted(glob.glob("tests/**/test_*.py", recursive=True))]
    broken = [file for file in files if file[2]]
    # Like pytest: a file that cannot be loaded ends the run before any test.
    cases = [case for file in broken or files for case in file[0]]
    with open(os.environ["PORCH_REPORT"], "w", encoding="utf-8") as report:
        report.write(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    if broken:
        return 2
    return 1 if any(file[1] for file in files) else 0 if cases else 5


if __name__ == "__main__":
    sys.exit(main())
