"""`envoy protocol` as an agent and a person call it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.cli.envoy import fast

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Envoy = Callable[..., str]
OWN = "name: own\nextends: debugging\nsteps:\n  6.3: see step 7\n"


@pytest.fixture
def envoy(desk: "Desk", capsys: pytest.CaptureFixture[str]) -> Envoy:
    """Types a command; what it says on both streams, of which the second is empty by default."""

    def type_(*words: str, code: int = 0, err: str = "") -> str:
        capsys.readouterr()
        answered = fast.answer_from_cache(list(words))
        left = run_command("envoy", list(words)) if answered is None else answered
        told = capsys.readouterr()
        assert left == code, told
        assert told.err.startswith(err) if err else not told.err, told.err
        return told.out

    return type_


def data(text: str) -> Any:
    told = json.loads(text)
    assert told["status"] == "success"
    return told["data"]


@pytest.mark.req("E-002", "E-012", "E-015")
def test_a_file_of_the_project_is_printed_as_text(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nsteps: {1: mine}\n")
    assert envoy("protocol", "own") == "# own\n\n## Steps\n\n1: mine\n"


def test_n8_a_file_of_the_project_extends_the_packaged_one_of_its_name(
    desk: "Desk", envoy: Envoy
) -> None:
    packaged = data(envoy("protocol", "debugging", "--json"))
    own = "name: implementation\nextends: implementation\nsteps:\n  1+: OURS TOO\n"
    desk.write(".claude/protocols/implementation.yaml", own)
    text = envoy("protocol", "implementation")
    assert "OURS TOO" in text
    assert envoy("protocol", "implementation") == text  # from what was kept
    told = envoy("protocol", "implementation", "--explain")
    assert "implementation (packaged)" in told
    assert envoy("protocol", "implementation", "--check") is not None
    # Whoever extends that name gets the file of the project, and below it ours.
    below = data(envoy("protocol", "debugging", "--json"))
    assert "OURS TOO" in str(below)
    assert len(below["steps"]) == len(packaged["steps"])


def test_n8_a_name_that_nothing_of_ours_has_is_still_a_circle(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nextends: own\nsteps:\n  1: x\n")
    assert "own -> own" in envoy("protocol", "own", "--json", code=2)


@pytest.mark.req("E-015", "E-090")
@pytest.mark.parametrize(
    "name, last",
    [("implementation", 15), ("debugging", 18), ("discovery", 6), ("bug-discovery", 6)],
)
def test_a_fresh_project_has_four_protocols(
    desk: "Desk", envoy: Envoy, name: str, last: int
) -> None:
    assert not (desk.root / ".claude").exists()
    lines = envoy("protocol", name).splitlines()
    assert lines[0] == f"# {name}"
    assert {"## Inputs", "## Outputs", "## Steps"} <= {*lines}
    steps = [line.partition(":")[0] for line in lines if line.partition(":")[0].isdecimal()]
    assert steps == [str(number) for number in range(1, last + 1)]


def test_it_may_be_called_as_a_plan_command(envoy: Envoy) -> None:
    assert envoy("plan", "protocol", "discovery") == envoy("protocol", "discovery")
    assert envoy("plan", "protocol", "discovery", "--raw") == envoy(
        "protocol", "discovery", "--raw"
    )


@pytest.mark.parametrize("words", [[], ["--raw"], ["--explain"], ["--json"]])
def test_the_second_answer_is_the_first(desk: "Desk", envoy: Envoy, words: list[str]) -> None:
    first = envoy("protocol", "debugging", *words)
    assert fast.answer_from_cache(["protocol", "debugging", *words]) == 0
    assert envoy("protocol", "debugging", *words) == first


def test_an_edit_anywhere_in_the_chain_is_seen(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nextends: low\nsteps: {1+: top}\n")
    low = desk.write(".claude/protocols/low.yaml", "name: low\nsteps: {1: low}\n")
    assert "1: low\ntop\n" in envoy("protocol", "own")
    low.write_text("name: low\nsteps: {1: lower}\n")
    assert "1: lower\ntop\n" in envoy("protocol", "own")


def test_a_file_that_appears_in_front_is_seen(desk: "Desk", envoy: Envoy) -> None:
    before = envoy("protocol", "bug-discovery")
    desk.write(".claude/protocols/discovery.yaml", "name: discovery\nsteps: {3: ours, 4: x}\n")
    assert "3: ours\n" in envoy("protocol", "bug-discovery")
    os.remove(desk.root / ".claude/protocols/discovery.yaml")
    assert envoy("protocol", "bug-discovery") == before


def test_alone_it_lists_all(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nsteps: [1]\n")
    told = envoy("protocol")
    for name in ("bug-discovery", "debugging", "discovery", "implementation", "own"):
        assert f"{name} " in told
    assert "cannot be read" in told
    rows = data(envoy("protocol", "--json"))["protocols"]
    assert [row["source"] for row in rows] == ["packaged"] * 4 + ["project"]


def test_the_list_takes_no_flags_of_one_protocol(envoy: Envoy) -> None:
    envoy("protocol", "--raw", code=2, err="error[usage]: the name of a protocol is missing")


def test_forms_exclude_each_other(envoy: Envoy) -> None:
    envoy("protocol", "debugging", "--raw", "--check", code=2, err="error[usage]")


def test_check_has_warnings_and_still_succeeds(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", OWN)
    told = envoy("protocol", "own", "--check")
    assert told.startswith("warning[step-ambiguous]: own:6.3 mentions step 7")
    assert f"--> {desk.root}/.claude/protocols/own.yaml:4:3" in told
    found = data(envoy("protocol", "own", "--check", "--json"))["findings"]
    assert [each["code"] for each in found] == ["step-ambiguous"]


def test_e11_a_branch_that_git_cannot_make_is_an_error_of_the_check_and_printed_all_the_same(
    desk: "Desk", envoy: Envoy
) -> None:
    desk.write(
        ".claude/protocols/own.yaml", OWN.replace("step 7", "<FEATURE_BRANCH>/implementation-<N>")
    )
    told = envoy("protocol", "own", "--check", code=2)
    assert told.startswith("error[impossible-branch]")
    assert "write `<FEATURE_BRANCH>--implementation-`" in told
    assert "<FEATURE_BRANCH>/implementation-<N>" in envoy(
        "protocol", "own", err="warning[impossible-branch]"
    )


def test_check_of_a_lost_reference_fails(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", OWN.replace("step 7", "step 77"))
    assert envoy("protocol", "own", "--check", code=2).startswith("error[unknown-reference]")
    told = json.loads(envoy("protocol", "own", "--check", "--json", code=2))
    assert (told["status"], told["error"]["type"]) == ("error", "unknown_reference")


def test_a_lost_reference_is_told_beside_the_steps_every_time(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", OWN.replace("step 7", "step 77"))
    for _ in range(2):
        assert "9: see step 77\n" in envoy("protocol", "own", err="warning[unknown-reference]")


def test_lenient_creates_what_it_appends_to(desk: "Desk", envoy: Envoy) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nsteps: {1: a, 5+: b}\n")
    envoy("protocol", "own", code=2, err="error[append-target-missing]")
    told = envoy("protocol", "own", "--lenient", err="warning[append-target-missing]")
    assert "2: b\n" in told
    envoy("protocol", "own", code=2, err="error[append-target-missing]")


@pytest.mark.parametrize(
    "name, kind", [("nope", "not_found"), ("../x", "invalid_name"), ("own", "extends_cycle")]
)
def test_errors_come_in_the_envelope_for_programs(
    desk: "Desk", envoy: Envoy, name: str, kind: str
) -> None:
    desk.write(".claude/protocols/own.yaml", "name: own\nextends: own\n")
    told = json.loads(envoy("protocol", name, "--json", code=2))
    assert (told["status"], told["error"]["type"]) == ("error", kind)
    assert told["error"]["message"]
    assert told["error"]["suggestion"]
    envoy("protocol", name, code=2, err="error[")


@pytest.mark.req("E-018")
def test_inputs_are_checked_all_at_once(envoy: Envoy) -> None:
    told = json.loads(
        envoy("protocol", "implementation", "--input", "mode=x", "--input", "prompt_num=three",
              "--json", code=2)
    )  # fmt: skip
    codes = [each["code"] for each in told["error"]["findings"]]
    assert codes == ["unknown-input", "missing-input", "bad-input"]


@pytest.mark.req("E-006")
def test_an_input_has_the_type_that_is_declared(envoy: Envoy) -> None:
    given = ("--input", "agent_name=backend_1", "--input", "segment_context=the cart")
    wrong = ("--input", "approach_references=backend 1")
    told = json.loads(envoy("protocol", "discovery", *given, *wrong, "--json", code=2))
    assert [each["code"] for each in told["error"]["findings"]] == ["bad-input"]
    listed = ("--input", 'approach_references=[{"specialist_name": "backend_1"}]')
    rows = data(envoy("protocol", "discovery", *given, *listed, "--json"))["inputs"]
    assert rows[2]["value"] == [{"specialist_name": "backend_1"}]


def test_inputs_are_filled_in(envoy: Envoy) -> None:
    given = ("--input", "prompt_num=3", "--input", "feature_branch=feat/x", "--input", "variant=B")
    told = envoy("protocol", "debugging", *given)
    assert "`envoy plan read-prompt 3 B`" in told
    assert '--worktree "feat/x--implementation-3-B"' in told
    assert "<PROMPT_NUM>" not in told
    assert "<VARIANT>" not in told
    values = [
        each["value"] for each in data(envoy("protocol", "debugging", *given, "--json"))["inputs"]
    ]
    assert values == [3, "B", "feat/x"]


@pytest.mark.parametrize("word", ["prompt_num", "=3", "a b=3"])
def test_what_is_no_input_is_refused(envoy: Envoy, word: str) -> None:
    envoy("protocol", "debugging", "--input", word, code=2, err="error[usage]")


def test_an_input_is_given_once(envoy: Envoy) -> None:
    twice = ("--input", "prompt_num=3", "--input", "prompt_num=4")
    envoy("protocol", "debugging", *twice, code=2, err="error[usage]")


def test_a_protocol_of_steps_is_run_to_its_end(desk: "Desk") -> None:
    given = ("--input", "prompt_num=3", "--input", "feature_branch=feat/x")
    desk.porch("run", "implementation", "--no-claude", "--here", *given)
    (run,) = [path.name for path in (desk.root / ".git/porch/runs").iterdir()]
    assert run.startswith("implementation_3-feat-x-")
    # Where nothing is planned, trying the protocol out proves nothing either way.
    assert desk.entered(run) == ["work", "work:success_true_merged_true", "complete"]
    assert "read-prompt 3`" in desk.prompts(run)[0]
    desk.porch("run", "implementation", "--no-claude", "--here", *given)
    desk.porch("run", "implementation", "--no-claude", "--here", *given, "--input", "variant=A")
    assert len(list((desk.root / ".git/porch/runs").iterdir())) == 2


def test_what_a_real_agent_claims_is_held_against_the_plan(desk: "Desk") -> None:
    word = "<signal>SUCCESS_TRUE_MERGED_TRUE</signal>"
    desk.write("liar.sh", f"cat > /dev/null; echo '{word}'\n")
    desk.write("codev/config.toml", '[agents.liar]\ncommand = ["sh", "liar.sh"]\n')
    desk.git("add", "-A")
    desk.git("commit", "-qm", "an agent")
    given = ("--input", "prompt_num=3", "--input", "feature_branch=feat/x", "--agent", "liar")
    # What was exported by somebody excuses nothing: it is neither a dry run nor another prompt.
    exported = {"PORCH_DRY_RUN": "1", "PORCH_INPUT_VARIANT": "B", "DRY_RUN": "1"}
    desk.call("run", "implementation", *given, code=3, **exported)
    (run,) = [path.name for path in (desk.root / ".git/porch/runs").iterdir()]
    reports = [fact["report"] for fact in desk.facts("CheckEnded", run)]
    assert len(reports) == 4
    assert all("no_plan" in report for report in reports)


def test_plain_inputs_are_the_name_of_the_run(desk: "Desk") -> None:
    given = ("--input", "prompt_num=3", "--input", "feature_branch=x")
    desk.porch("run", "debugging", "--no-claude", "--here", *given)
    assert (desk.root / ".git/porch/runs/debugging_3-x").is_dir()
    assert desk.status("codev/executions/debugging_3-x")["protocol"] == "debugging"


def test_a_run_without_its_inputs_does_not_begin(desk: "Desk") -> None:
    said = desk.porch("run", "implementation", "--no-claude", "--here", "--input", "x=1", code=2)
    assert said.err.count("error[missing-input]") == 2
    assert "error[unknown-input]" in said.err
    assert not (desk.root / ".git/porch/runs").exists()


def test_a_failure_that_is_declared_ends_the_run_as_failed(desk: "Desk") -> None:
    reply = {"signal": "SUCCESS_FALSE_REASON", "reason": "no sources"}
    script = desk.script(agents={"work": [reply]})
    given = ("--input", "agent_name=a", "--input", "segment_context=b")
    desk.porch("run", "discovery", "7", "--here", "--script", script, *given, code=1)
    assert desk.entered("discovery_7") == ["work", "failed"]


def test_a_failure_of_steps_is_told_with_the_answers_that_it_has(desk: "Desk") -> None:
    script = desk.script(agents={"*": [{"signal": None}]})
    given = ("--input", "agent_name=a", "--input", "segment_context=b")
    said = desk.porch("run", "discovery", "7", "--here", "--script", script, *given, code=3).out
    assert "waiting for your decision: phase 'work' failed: retry or stop?" in said
    assert "skip" not in said + desk.porch("log", "7").out
    assert "phase 'discovery' failed: retry or stop?" in desk.porch("log", "7").out


LOOK = """
import sys
sys.argv[0] = "envoy"
from porch.cli.dispatch import envoy
code = envoy()
sys.stderr.write("\\n".join(sys.modules))
sys.exit(code)
"""
HEAVY = {
    "argparse", "asyncio", "dataclasses", "datetime", "hashlib", "inspect", "jinja2", "pathlib",
    "porch.dialects", "porch.errors", "porch.model", "porch.run", "porch.show", "rich",
    "subprocess", "tempfile", "typing", "yaml",
}  # fmt: skip


@pytest.mark.parametrize("words", [[], ["--raw"], ["--explain"], ["--json"]])
def test_a_kept_answer_loads_no_heavy_module(desk: "Desk", envoy: Envoy, words: list[str]) -> None:
    shown = envoy("protocol", "debugging", *words)
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOOK, "protocol", "debugging", *words],
        cwd=desk.root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, shown)
    loaded = set(done.stderr.splitlines())
    assert "porch.cli.envoy.fast" in loaded
    assert "porch.cli.command" not in loaded
    assert not loaded & HEAVY


def test_whoever_stops_reading_is_told_nothing(desk: "Desk", envoy: Envoy) -> None:
    envoy("protocol", "debugging")
    command = f"{sys.executable} -c '{LOOK}' protocol debugging | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=desk.root, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
