"""A parent whose children made everything pass has nothing to invent."""

import json
from typing import Any


def test_an_implementation_that_is_already_green_needs_no_commit(planted: Any) -> None:
    """D28: TestsPassed without a commit, where the children's work made the tests pass."""
    path = planted.repo / "script.json"
    script = json.loads(path.read_text())
    script["agents"]["./write_tests"][0]["write"] = {"tests/root/need": "src/a/code"}
    del script["agents"]["./impl"][0]["write"]
    path.write_text(json.dumps(script))
    done = planted.run()
    assert done.returncode == 0, done.stdout + done.stderr
    subjects = planted.git("log", "--format=%s", "refs/porch/archive/porch/v3_root")
    assert "impl(root)" not in subjects
    assert planted.merges("main") == ["feat(root): implement"]
