"""Signs of a login are names of variables and files; nothing is read that is a secret."""

from pathlib import Path

import pytest

from porch.agents.login_signs import find_login_signs

FILES = {
    "claude": {
        ".claude/.credentials.json": "",
        ".claude.json": '{"oauthAccount": {"x": 1}}',
        ".claude/settings.json": '{"apiKeyHelper": "get-key"}',
    },
    "codex": {".codex/auth.json": "", ".codex/config.toml": 'model_provider = "mine"\n'},
    "gemini": {".gemini/oauth_creds.json": ""},
}
CASES = [(kind, path) for kind, files in FILES.items() for path in files]
VARIABLES = [("claude", "ANTHROPIC_API_KEY"), ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
             ("codex", "CODEX_API_KEY"), ("gemini", "GEMINI_API_KEY")]  # fmt: skip


@pytest.mark.parametrize("kind, path", CASES)
def test_a_file_of_a_login_is_a_sign(tmp_path: Path, kind: str, path: str) -> None:
    environ = {"HOME": str(tmp_path)}
    assert find_login_signs(kind, environ) == []
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(FILES[kind][path])
    assert find_login_signs(kind, environ) != []


@pytest.mark.parametrize("kind, name", VARIABLES)
def test_a_variable_is_a_sign_and_its_value_is_never_said(
    tmp_path: Path, kind: str, name: str
) -> None:
    environ = {"HOME": str(tmp_path), name: "nobodys-business"}
    assert find_login_signs(kind, environ) == [f"{name} is set"]
    assert find_login_signs(kind, {**environ, name: ""}) == []


def test_a_variable_that_the_settings_name_is_a_sign(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "AWS_PROFILE": "work"}
    assert find_login_signs("claude", environ, ("AWS_*",)) == ["AWS_PROFILE is set"]


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_file_that_says_nothing_is_no_sign(tmp_path: Path, text: str) -> None:
    (tmp_path / ".claude.json").write_text(text)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("")
    for kind in ("claude", "codex"):
        assert find_login_signs(kind, {"HOME": str(tmp_path)}) == []


def test_an_agent_without_logins_has_no_answer() -> None:
    assert find_login_signs("scripted", {}) is None
