"""Commands are proposed that work in a new worktree, with what git does not bring there."""

import json
from pathlib import Path

import pytest

from porch.fleet.setup.config_text import render_config
from porch.fleet.setup.languages import find_languages
from porch.fleet.setup.project_commands import find_commands
from porch.fleet.setup.worktree_needs import WorktreeNeeds, find_needs

Files = dict[str, str]
PYTEST = "[tool.pytest.ini_options]\n[tool.ruff]\n"
VENV = {".venv/bin/python": "", ".venv/pyvenv.cfg": ""}
NODE = json.dumps({"scripts": {"test": "node --test"}, "devDependencies": {"x": "1"}})
WORKSPACES = json.dumps({"scripts": {"test": "x"}, "workspaces": ["packages/*"]})
MODULES = {"node_modules/x/index.js": ""}
LINK_VENV, LINK_MODULES = WorktreeNeeds(link=(".venv",)), WorktreeNeeds(link=("node_modules",))
NOTHING = WorktreeNeeds()
IN_VENV = ".venv/bin/python -m pytest -q"
SHAPES: dict[str, tuple[Files, str, WorktreeNeeds]] = {
    "no-environment": ({"pyproject.toml": PYTEST}, "python3 -m pytest -q", NOTHING),
    "venv": ({"pyproject.toml": PYTEST, **VENV}, IN_VENV, LINK_VENV),
    "venv-of-another-name": (
        {"pytest.ini": "", "venv/bin/python": "", "venv/pyvenv.cfg": ""},
        "venv/bin/python -m pytest -q",
        WorktreeNeeds(link=("venv",)),
    ),
    "no-venv-of-python": ({"pytest.ini": "", "venv/a.txt": ""}, "python3 -m pytest -q", NOTHING),
    "sources": (
        {"pyproject.toml": PYTEST, "src/p.py": "", **VENV},
        f"PYTHONPATH=src {IN_VENV}",
        LINK_VENV,
    ),
    "unittest": (
        {"setup.py": "", "tests/test_a.py": "", **VENV},
        ".venv/bin/python -m unittest discover -s tests",
        LINK_VENV,
    ),
    "only-an-environment-and-tests": (
        {"tests/test_a.py": "", **VENV},
        ".venv/bin/python -m unittest discover -s tests",
        LINK_VENV,
    ),
    "only-an-environment-and-tests-at-the-top": (
        {"test_a.py": "", **VENV}, ".venv/bin/python -m unittest discover", LINK_VENV,
    ),
    "pytest-in-the-environment-and-tests": (
        {"test_a.py": "", ".venv/bin/pytest": "", **VENV}, IN_VENV, LINK_VENV,
    ),
    "an-environment-without-tests": ({"a.py": "", **VENV}, "", LINK_VENV),
    "tox": ({"tox.ini": "[tox]\n", **VENV, ".venv/bin/tox": ""}, ".venv/bin/tox", LINK_VENV),
    "make-and-venv": ({"Makefile": "test:\n", **VENV}, "make test", LINK_VENV),
    "uv": ({"pyproject.toml": PYTEST, "uv.lock": "", **VENV}, "uv run pytest -q", NOTHING),
    "poetry": (
        {"pyproject.toml": PYTEST, "poetry.lock": ""},
        "poetry run pytest -q",
        WorktreeNeeds(setup=("poetry install --quiet",)),
    ),
    "poetry-in-venv": ({"pyproject.toml": PYTEST, "poetry.lock": "", **VENV}, IN_VENV, LINK_VENV),
    "node": ({"package.json": NODE, **MODULES}, "npm run test", LINK_MODULES),
    "node-without-packages": (
        {"package.json": '{"scripts": {"test": "node --test"}}'}, "npm run test", NOTHING,
    ),
    "node-not-installed": (
        {"package.json": NODE, "pnpm-lock.yaml": ""},
        "pnpm run test",
        WorktreeNeeds(setup=("pnpm install --frozen-lockfile",)),
    ),
    "node-not-installed-and-not-locked": ({"package.json": NODE}, "npm run test", NOTHING),
    "workspaces": (
        {"package.json": WORKSPACES, "package-lock.json": "", **MODULES},
        "npm run test",
        WorktreeNeeds(setup=("npm ci",)),
    ),
    "monorepo": (
        {
            **{f"api/{path}": text for path, text in {"pyproject.toml": PYTEST, **VENV}.items()},
            **{f"web/{path}": text for path, text in {"package.json": NODE, **MODULES}.items()},
            "docs/package.json": NODE,
            ".hidden/package.json": NODE,
        },
        f"(cd api && {IN_VENV}) && (cd web && npm run test)",
        WorktreeNeeds(link=("api/.venv", "web/node_modules")),
    ),
    "monorepo-that-installs": (
        {"lib/go.mod": "", "web/package.json": NODE, "web/yarn.lock": ""},
        "(cd lib && go test ./...) && (cd web && yarn run test)",
        WorktreeNeeds(setup=("cd web && yarn install --frozen-lockfile",)),
    ),
    "very-many-parts": ({f"p{n}/go.mod": "" for n in range(20)}, "", NOTHING),
}  # fmt: skip


def write(root: Path, files: Files) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_project_is_tested_as_it_can_be_in_a_new_worktree(
    tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, command, needs = SHAPES[shape]
    write(tmp_path, files)
    for name in ("uv", "git"):
        write(tmp_path / "bin-of-the-machine", {name: ""})
        (tmp_path / "bin-of-the-machine" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin-of-the-machine"))
    found = find_commands(str(tmp_path))
    assert next((each.command for each in found if each.name == "test"), "") == command
    assert find_needs(str(tmp_path), found) == needs


def test_where_uv_is_not_installed_the_environment_that_is_there_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    write(tmp_path, {"pyproject.toml": PYTEST, "uv.lock": "", **VENV, ".venv/bin/ruff": ""})
    found = {each.name: each.command for each in find_commands(str(tmp_path))}
    assert found == {"test": IN_VENV, "lint": ".venv/bin/ruff check ."}
    assert find_needs(str(tmp_path), find_commands(str(tmp_path))) == LINK_VENV


def test_what_a_worktree_needs_stands_in_the_settings() -> None:
    text = render_config([], [], WorktreeNeeds((".venv",), ("npm ci",)))
    assert '\n[worktree]\nsetup = ["npm ci"]\n# copy = [".env"]\nlink = [".venv"]\n' in text
    assert '\n# setup = ["npm ci"]\n' in render_config([])


@pytest.mark.parametrize(
    "files, languages",
    [
        ({}, {}),
        ({"setup.py": "", "requirements.txt": ""}, {"Python": "setup.py"}),
        ({"package.json": "", "tsconfig.json": ""}, {"TypeScript": "tsconfig.json"}),
        ({"go.mod": "", "web/package.json": ""}, {"Go": "go.mod"}),
        (
            {"api/go.mod": "", "web/package.json": "", "app/package.json": ""},
            {"Go": "api/go.mod", "JavaScript": "app/package.json"},
        ),
    ],
)
def test_languages_are_named_with_the_file_that_says_so(
    tmp_path: Path, files: Files, languages: dict[str, str]
) -> None:
    write(tmp_path, files)
    assert find_languages(str(tmp_path)) == languages
