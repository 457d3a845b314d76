"""A graph that somebody writes for their own team runs like the packaged one; none of it is V3."""

import json
import subprocess
from pathlib import Path
from typing import Any

GRAPH = """
document: {name: mini, description: Somebody writes and somebody reads, subject: spec}
spec: Note
types:
  Note: {id: Text, text: Text, file: FilePath}
budgets: {rounds: 2}
supervision: {nudges: 1, silent: lost, exhausted: lost, no_progress: lost}
states:
  write:
    role: writer
    template: write.md.j2
    memory: [sizes]
    input: {note: instance.spec, again?: Shorter}
    allows: [instance.spec.file]
    exits:
      Written: {file: FilePath, words: Int, commit: Commit = engine.head}
    checks: {Written: [{exists: [file]}, {within: {every: file, by: [instance.spec.file]}}]}
  read:
    role: reader
    fork: writer
    workspace: read
    template: read.md.j2
    input: {note: Written, diff: engine.diff}
    diff: {from: Written.commit}
    exits:
      Good: {why: Text}
      Shorter: {most: Int}
  person:
    human: question
    title: Is the note good?
    shows: [Good, Written]
    options: {answered: {means: it is done, text: true}}
  done: {end: complete, shows: [Written]}
  lost: {end: failed, shows: [Written]}
edges:
  write.Written: {to: read, keep: {sizes: +Written.words}}
  read.Good: {to: person}
  read.Shorter: {to: write, charge: rounds, spent: lost}
  person.answered: {to: done}
"""
WRITE = """Write {{ note.text }} to `{{ note.file }}`.
{% if again %}It must have at most {{ again.most }} words; so far: {{ memory.sizes | join(", ") }}.
{% endif %}"""
READ = "Read `{{ note.file }}`.\n{{ diff | fence }}\n"
SCRIPT: dict[str, Any] = {
    "agents": {
        "write": [
            {
                "write": {"note.md": f"{text}\n"},
                "exit": "Written",
                "payload": {"file": "note.md", "words": len(text.split())},
            }
            for text in ("much too long a note", "short")
        ],
        "read": [
            {"exit": "Shorter", "payload": {"most": 2}},
            {"exit": "Good", "payload": {"why": "it is short"}},
        ],
    },
    "decisions": {"person": [{"answer": "it is"}]},
}


def _planted(repo: Path, planted: Any) -> Path:
    place = repo / "codev" / "protocols"
    place.mkdir()
    (place / "mini.graph.yaml").write_text(GRAPH)
    (place / "templates").mkdir()
    (place / "templates" / "write.md.j2").write_text(WRITE)
    (place / "templates" / "read.md.j2").write_text(READ)
    spec = {"id": "tea", "text": "a note about tea", "file": "note.md"}
    (repo / "tea.json").write_text(json.dumps(spec))
    (repo / "mini.json").write_text(json.dumps(SCRIPT))
    return repo


def test_a_graph_of_ones_own_runs_to_its_end(planted: Any) -> None:
    repo = _planted(planted.repo, planted)
    assert planted.porch("protocols", "lint", "codev/protocols/mini.graph.yaml").returncode == 0
    done = planted.porch("run", "mini", "tea.json", "--script", "mini.json", "--plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert planted.git("show", "porch/mini_tea:note.md") == "short"
    prompts = sorted(repo.glob(".git/porch/runs/mini_tea/turns/write_2*/turn-1/prompt.md"))
    assert "at most 2 words; so far: 5." in prompts[0].read_text()
    drawn = planted.porch("protocols", "graph", "mini", "--format", "mermaid").stdout
    assert "Shorter" in drawn


def test_a_typo_in_it_is_refused_with_its_place(planted: Any) -> None:
    repo = _planted(planted.repo, planted)
    file = repo / "codev" / "protocols" / "mini.graph.yaml"
    file.write_text(GRAPH.replace("again?: Shorter", "again?: Shorten"))
    done: subprocess.CompletedProcess[str] = planted.porch("protocols", "lint", str(file))
    assert done.returncode == 2
    assert "mini.graph.yaml:13" in done.stdout + done.stderr
    assert "did you mean 'Shorter'?" in done.stdout + done.stderr


def test_fields_called_like_words_of_a_decision_page_are_only_shown(planted: Any) -> None:
    """X8: an event field named `difference` crashed the run at its gate, and every resume of it."""
    words = ("difference", "reports", "findings", "unmeasured", "reason", "coverage", "abstained")
    repo = _planted(planted.repo, planted)
    file = repo / "codev" / "protocols" / "mini.graph.yaml"
    fields = ", ".join(f"{word}: Int" for word in words)
    file.write_text(GRAPH.replace("Good: {why: Text}", f"Good: {{why: Text, {fields}}}"))
    reader = [
        SCRIPT["agents"]["read"][0],
        {"exit": "Good", "payload": {"why": "short", **dict.fromkeys(words, 7)}},
    ]
    agents = {**SCRIPT["agents"], "read": reader}
    (repo / "mini.json").write_text(json.dumps({"agents": agents}))
    done = planted.porch("run", "mini", "tea.json", "--script", "mini.json", "--plain")
    assert done.returncode == 3, done.stdout + done.stderr
    (asked,) = json.loads(planted.porch("pending", "--json").stdout)["decisions"]
    assert asked["reports"] == {"why": "short", **dict.fromkeys(set(words) - {"reason"}, "7")}
    assert asked["reason"] == "read: the agent answered Good: 7"
    assert (asked["findings"], asked["needs_override"]) == ([], False)
    for command in ("pending", "status", "log", "resume"):
        shown = planted.porch(command, *(("tea",) if command != "pending" else ()))
        assert shown.returncode in (0, 3), shown.stdout + shown.stderr
    assert planted.porch("answer", "tea", "person", "it is").returncode == 0
    assert planted.porch("resume", "tea").returncode == 0


SPLIT = """
document: {name: split}
spec: Task
types:
  Task: {id: Text}
  Plan: {parts: "[Task]"}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: SPECS, depth: 1}
states:
  plan:
    role: planner
    workspace: read
    template: plan.j2
    input: {room: engine.children}
    exits:
      Planned: {ANSWER}
  say: {role: r, workspace: read, template: say.j2, input: {parts: SPECS}, exits: {Said: {}}}
  done: {end: complete}
  lost: {end: failed}
edges:
  plan.Planned: {to: kids}
  kids.settled: {to: say}
  say.Said: {to: done}
"""


def _split(planted: Any, specs: str, answer: str, agents: dict[str, Any]) -> Any:
    """The root plans one child, which may not plan any; what the run said."""
    place = planted.repo / "codev" / "protocols"
    (place / "templates").mkdir(parents=True)
    (place / "split.graph.yaml").write_text(SPLIT.replace("SPECS", specs).replace("ANSWER", answer))
    (place / "templates" / "plan.j2").write_text("Plan at most {{ room.most }}.\n")
    (place / "templates" / "say.j2").write_text("There are {{ parts | length }} parts.\n")
    (planted.repo / "all.json").write_text('{"id": "all"}')
    said = {"say": [{"exit": "Said", "payload": {}}], **agents}
    (planted.repo / "split.json").write_text(json.dumps({"agents": said}))
    return planted.porch("run", "split", "all.json", "--script", "split.json", "--plain")


def test_t8_children_that_are_planned_inside_a_record_keep_to_the_limits(planted: Any) -> None:
    plan = {"exit": "Planned", "payload": {"plan": {"parts": [{"id": "one"}]}}}
    nobody = {"exit": "Planned", "payload": {"plan": {"parts": []}}}
    agents = {"./plan": [plan], "plan": [{**plan, "refused": nobody}]}
    done = _split(planted, "Planned.plan.parts", "plan: Plan", agents)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("refused: 1 children are planned, but only 0 are allowed") == 1


def test_t8_at_the_limit_a_list_that_cannot_be_null_is_empty(planted: Any) -> None:
    plan = {"exit": "Planned", "payload": {"parts": [{"id": "one"}]}}
    agents = {"./plan": [plan], "plan": [{"exit": "Planned", "payload": {}}]}
    done = _split(planted, "Planned.parts", 'parts: "[Task]"', agents)
    assert done.returncode == 0, done.stdout + done.stderr
    prompts = planted.repo.glob(".git/porch/runs/split_all/turns/*say*/turn-1/prompt.md")
    lines = sorted(p.read_text().splitlines()[0] for p in prompts)
    assert lines == ["There are 0 parts.", "There are 1 parts."]


MERGING = """
document: {name: merging}
spec: Note
types: {Note: {id: Text, file: FilePath}}
budgets: {rounds: 2}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
states:
  write:
    role: writer
    template: say.j2
    input: {note: instance.spec}
    exits: {Written: {patch: Text = engine.patch}}
  candidate: {git: candidate, holds: [target], approved: Written.patch, own: [instance.spec.file]}
  publish: {git: publish, holds: [target], candidate: candidate.clean}
  done: {end: complete}
  lost: {end: failed}
edges:
  write.Written: {to: candidate}
  candidate.clean: {to: publish}
  candidate.refused: {to: lost}
  candidate.conflict: {to: lost}
  publish.clean: {to: done}
  publish.refused: {to: lost}
  publish.conflict: {to: candidate, charge: rounds, spent: lost}
"""


def test_a_graph_that_always_merges_is_not_begun_without_a_target(planted: Any) -> None:
    place = planted.repo / "codev" / "protocols"
    (place / "templates").mkdir(parents=True)
    (planted.repo / "codev" / "config.toml").write_text("[commands]\ntest = 'test -e tea.md'\n")
    planted.git("commit", "-qam", "settings")
    (place / "merging.graph.yaml").write_text(MERGING)
    (place / "templates" / "say.j2").write_text("Write {{ note.file }}.\n")
    (planted.repo / "tea.json").write_text('{"id": "tea", "file": "tea.md"}')
    written = {"write": {"tea.md": "tea\n"}, "exit": "Written", "payload": {}}
    (planted.repo / "tea.script").write_text(json.dumps({"agents": {"write": [written]}}))
    words = ("run", "merging", "tea.json", "--script", "tea.script", "--plain")
    done = planted.porch(*words)
    assert done.returncode == 2
    assert "--into BRANCH" in done.stderr
    done = planted.porch(*words, "--into", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert planted.git("show", "main:tea.md") == "tea"


LISTED = """
document: {name: listed, subject: spec}
spec: Task
types:
  Task: {id: Text, parts: "Maybe [Part]"}
  Part: {id: Text}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: instance.spec.parts, depth: 1}
states:
  look: {role: r, workspace: read, template: look.j2, input: {job: instance.spec}, exits: {Ok: {}}}
  done: {end: complete}
  lost: {end: failed}
edges:
  look.Ok: {to: kids}
  kids.settled: {to: done}
"""


def test_d39_a_spec_that_lists_too_many_children_is_refused_before_the_run_begins(
    planted: Any,
) -> None:
    place = planted.repo / "codev" / "protocols"
    (place / "templates").mkdir(parents=True)
    (place / "listed.graph.yaml").write_text(LISTED)
    (place / "templates" / "look.j2").write_text("Look at {{ job.id }}.\n")
    many = {"id": "all", "parts": [{"id": f"p{number}"} for number in range(6)]}
    (planted.repo / "all.json").write_text(json.dumps(many))
    said = {"agents": {"look": [{"exit": "Ok", "payload": {}}]}}
    (planted.repo / "listed.json").write_text(json.dumps(said))
    words = ("run", "listed", "all.json", "--script", "listed.json", "--plain")
    refused = planted.porch(*words)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "parts: 6 children are listed, but only 5 are allowed" in refused.stderr
    (planted.repo / "all.json").write_text(json.dumps({**many, "parts": many["parts"][:2]}))
    done = planted.porch(*words)
    assert done.returncode == 0, done.stdout + done.stderr
