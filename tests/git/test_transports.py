"""X7: our git speaks to remotes only by known transports, fetches nothing, and runs no program."""

import base64
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from porch.errors import OutsideError
from porch.git import repository, worktrees
from porch.git.command import run_git, try_git
from porch.git.gh_command import call_gh
from porch.plan.branches import github
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")
SSH = "ssh://nobody@127.0.0.1:9/x.git"


@pytest.fixture
def program(repo: Path) -> Path:
    """Leaves a mark beside the repository, and fails."""
    path = repo.parent / "program"
    path.write_text(f"#!/bin/sh\ntouch {repo.parent}/ran\nexit 1\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def locked_server() -> Iterator[str]:
    """The address of a server that wants a password, and the one it wants is `a person:secret`."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent = self.headers.get("Authorization", "")
            wanted = base64.b64encode(b"a person:secret").decode()
            self.send_response(404 if sent == f"Basic {wanted}" else 401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/x.git"
        server.shutdown()
        thread.join()


def push(repo: Path, url: str) -> str:
    """Why it failed, as it always does here."""
    sh(repo, "config", "remote.origin.url", url)
    with pytest.raises(OutsideError) as caught:
        github.push_branch(str(repo), "origin", "main")
    return caught.value.findings[0].message


@pytest.mark.parametrize(
    "key, url",
    [
        ("core.sshCommand", SSH),
        ("core.gitProxy", "git://127.0.0.1:9/x.git"),
        ("remote.origin.receivepack", "{base}/missing.git"),
    ],
)
def test_x7_a_push_runs_no_program_that_the_repository_names(
    repo: Path, program: Path, key: str, url: str
) -> None:
    sh(repo, "config", key, str(program))
    push(repo, url.replace("{base}", str(repo.parent)))
    assert not (repo.parent / "ran").exists()


@pytest.mark.parametrize("key", ["credential.helper", "core.askPass", "credential.{url}.helper"])
def test_x7_nobody_is_asked_for_a_password_by_a_program_of_the_repository(
    repo: Path, program: Path, locked_server: str, key: str
) -> None:
    sh(repo, "config", key.replace("{url}", locked_server), str(program))
    assert "could not read Username" in push(repo, locked_server)
    assert not (repo.parent / "ran").exists()


def test_x7_what_a_person_configured_for_all_repositories_is_still_asked(
    repo: Path, program: Path, locked_server: str
) -> None:
    """Also where the repository tries to forget it."""
    helper = repo.parent / "helper"
    helper.write_text("#!/bin/sh\necho username=a person\necho password=secret\n")
    helper.chmod(0o755)
    sh(repo, "config", "--global", "credential.helper", str(helper))
    sh(repo, "config", "credential.helper", "")
    sh(repo, "config", "--add", "credential.helper", str(program))
    assert "not found" in push(repo, locked_server)
    assert not (repo.parent / "ran").exists()


def test_x7_an_ext_remote_is_refused_whatever_the_repository_allows(
    repo: Path, program: Path
) -> None:
    sh(repo, "config", "protocol.ext.allow", "always")
    assert "transport 'ext' not allowed" in push(repo, f"ext::{program}")
    sh(repo, "config", "url.ext::sh -c.insteadOf", "safe:")
    assert "not allowed" in push(repo, "safe:x")
    assert not (repo.parent / "ran").exists()


@pytest.mark.parametrize("url", ["ext::{program}", "{base}/full.git", SSH])
def test_x7_what_is_missing_is_not_fetched_by_a_worktree(
    repo: Path, program: Path, url: str
) -> None:
    """A promisor remote would be asked for any object that is not there."""
    sh(repo, "clone", "-q", "--bare", str(repo), str(repo.parent / "full.git"))
    told = url.replace("{program}", str(program)).replace("{base}", str(repo.parent))
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "far"),
        ("remote.far.url", told),
        ("remote.far.promisor", "true"),
        ("remote.far.uploadpack", str(program)),
        ("core.sshCommand", str(program)),
        ("protocol.ext.allow", "always"),
    ):
        sh(repo, "config", key, value)
    blob = sh(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert try_git(str(repo), "cat-file", "-e", blob).returncode
    with pytest.raises(OutsideError, match=r"cannot|could not|fatal") as caught:
        worktrees.ensure_worktree(str(repo), str(repo.parent / "there"), "new", "main")
    assert "porch fetches nothing" in caught.value.findings[0].fix
    assert not (repo.parent / "ran").exists()
    assert not list((repo / ".git" / "objects").rglob("*.promisor"))


def test_x7_who_does_not_push_speaks_to_no_remote_at_all(repo: Path) -> None:
    """Also a git that fetches what is missing all the same."""
    sh(repo, "clone", "-q", "--bare", str(repo), str(repo.parent / "full.git"))
    for words in (("ls-remote", "../full.git"), ("fetch", "../full.git")):
        assert "transport 'file' not allowed" in try_git(str(repo), *words).stderr


def test_x7_a_push_fetches_nothing_either(repo: Path, program: Path) -> None:
    """It may speak to remotes, and so to one that has what is missing."""
    (repo / "a.txt").write_text("missing\n")
    sh(repo, "commit", "-qam", "two")
    sh(repo, "clone", "-q", "--bare", str(repo), str(repo.parent / "full.git"))
    sh(repo, "init", "-q", "--bare", str(repo.parent / "far.git"))
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", str(repo.parent / "full.git")),
        ("remote.origin.pushurl", str(repo.parent / "far.git")),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", str(program)),
    ):
        sh(repo, "config", key, value)
    blob = sh(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(OutsideError):
        github.push_branch(str(repo), "origin", "main")
    assert not (repo.parent / "ran").exists()


def test_x7_a_push_leaves_submodules_alone_whose_settings_name_programs(
    repo: Path, program: Path
) -> None:
    base = repo.parent
    sh(repo, "clone", "-q", str(repo), str(base / "lib"))
    sh(repo, "init", "-q", "--bare", str(base / "far.git"))
    sh(repo, "remote", "add", "origin", str(base / "far.git"))
    add = ("submodule", "--quiet", "add", str(base / "lib"), "sub")
    sh(repo, "-c", "protocol.file.allow=always", *add)
    sh(repo / "sub", "commit", "-q", "--allow-empty", "-m", "newer")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "with a submodule")
    sh(repo, "config", "push.recurseSubmodules", "on-demand")
    sh(repo / "sub", "config", "remote.origin.receivepack", str(program))
    github.push_branch(str(repo), "origin", "main")
    assert not (base / "ran").exists()


def test_x7_a_signed_push_calls_nobody(repo: Path, program: Path, tmp_path: Path) -> None:
    sh(repo, "init", "-q", "--bare", str(tmp_path / "far.git"))
    sh(tmp_path / "far.git", "config", "receive.certNonceSeed", "x")
    for key, value in (
        ("remote.origin.url", str(tmp_path / "far.git")),
        ("push.gpgSign", "true"),
        ("gpg.program", str(program)),
    ):
        sh(repo, "config", key, value)
    github.push_branch(str(repo), "origin", "main")
    assert not (repo.parent / "ran").exists()


def test_x7_gh_calls_git_with_the_same_care(
    repo: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at the files of the checkout by itself."""
    names = tmp_path / "names"
    names.mkdir()
    (names / "gh").write_text("#!/bin/sh\ngit status && git diff && git commit -qam x\n")
    (names / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", str(names), prepend=":")
    (repo / ".gitattributes").write_text("* filter=x\n")
    (repo / "a.txt").write_text("changed\n")
    for key in ("core.fsmonitor", "filter.x.clean"):
        sh(repo, "config", key, str(program))
    (repo / ".git" / "hooks" / "pre-commit").symlink_to(program)
    assert call_gh(str(repo), ("pr", "list")).code == 0
    assert not (repo.parent / "ran").exists()


def test_a_missing_object_elsewhere_is_told_as_git_tells_it(repo: Path) -> None:
    with pytest.raises(OutsideError) as caught:
        run_git(str(repo), "cat-file", "-e", "0" * 40)
    assert "porch fetches nothing" not in caught.value.findings[0].fix
    assert repository.read_head(str(repo))
