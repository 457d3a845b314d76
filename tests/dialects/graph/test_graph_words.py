"""Every word of the graph format: what it means, and where and how a wrong one is refused."""

from pathlib import Path

import pytest

from porch.dialects import graph
from porch.dialects.registry import parse_definition
from porch.errors import Finding, errors_in
from porch.model import protocol as p
from porch.model import types as t
from porch.text import formats

CORPUS = Path(__file__).parents[2] / "corpus" / "graph"
FILE = "small.graph.yaml"
# Work that is looked at, in a tree: every block and every word of the format.
SMALL = (CORPUS / FILE).read_text("utf-8")


def findings(text: str) -> tuple[Finding, ...]:
    return parse_definition(text, FILE).findings


def small() -> p.Protocol:
    reading = parse_definition(SMALL, FILE)
    assert reading.findings == ()
    assert reading.protocol is not None
    return reading.protocol


def agent(name: str) -> tuple[p.Agent, p.Ask]:
    actor = small().states[name].actor
    assert isinstance(actor, p.Agent)
    assert actor.ask is not None
    return actor, actor.ask


def edges(state: str, exit_: str) -> list[p.Edge]:
    return list(small().edges_of(state, exit_))


def test_a_run_begins_with_the_first_state_and_joins_and_children_are_states() -> None:
    protocol = small()
    assert protocol.initial == p.Target("plan")
    assert list(protocol.states)[-2:] == ["kids", "both"]
    assert protocol.states["both"].waits_for == ("work.Done", "redo.clean")
    assert protocol.spawn == p.Children(
        "",
        "plan.Planned.parts",
        "redo.refused.children",
        1,
        5,
        25,
        "file",
        inherits=("parts", "size", "pair"),
        from_parent=("parts",),
    )


def test_the_document_the_budgets_and_the_supervision_are_read() -> None:
    protocol = small()
    said = (protocol.name, protocol.version, protocol.description, protocol.subject, protocol.spec)
    assert said == ("small", "1.10", "about it", "task", "Task")
    assert protocol.budgets["tries"] == p.Budget("tries", 3, first=1)
    assert protocol.budgets["rounds"] == p.Budget("rounds", 3)
    assert (protocol.silence_s, protocol.nudges) == (30, 2)
    assert protocol.epoch == p.Epoch("plan", "plans", ("rounds",))
    update = p.Interrupt("update", "publish.clean", "merge.Merged", {"work": "plan"})
    assert protocol.interrupt == update
    assert [n for n, state in protocol.states.items() if state.is_interruptible] == ["work"]


def test_types_are_declared_beside_those_that_every_graph_has() -> None:
    types = small().types
    assert types["Size"] == t.Enum(("Small", "Large"))
    assert {"Evidence", "Why", "Count", "Node"} < types.keys()


def test_a_list_may_be_written_as_yaml_writes_lists() -> None:
    text = SMALL.replace('"[Part]", size', "[Part], size").replace(
        'failing: "[Text]"', "failing: [Text]"
    )
    assert text != SMALL
    assert parse_definition(text, FILE).protocol == small()


def test_silence_of_every_agent_leads_where_supervision_says() -> None:
    for name in ("plan", "work", "merge"):
        assert [e.targets for e in edges(name, "silent")] == [(p.Target("lost"),)]
        assert [e.targets[0].state for e in edges(name, "no_progress")] == ["lost", "person"]


def test_an_edge_of_a_state_goes_before_supervision() -> None:
    text = SMALL.replace("  person.stop:", "  work.silent: {to: plan}\n  person.stop:")
    protocol = parse_definition(text, FILE).protocol
    assert protocol is not None
    assert [e.targets for e in protocol.edges_of("work", "silent")] == [(p.Target("plan"),)]


def test_a_graph_without_agents_needs_no_supervision() -> None:
    text = """
document: {name: ask}
spec: Task
types: {Task: {id: Text}}
states:
  ask: {human: gate, options: {yes: {means: it is done}}}
  done: {end: complete}
edges:
  ask.yes: {to: done}
"""
    protocol = parse_definition(text, FILE).protocol
    assert protocol is not None
    assert (protocol.silence_s, protocol.nudges) == (60, 3)
    assert protocol.gates == ("ask",)


def test_an_input_names_a_path_several_the_parts_or_the_content_of_a_file() -> None:
    _, ask = agent("plan")
    task, again, outer = ask.takes
    assert task == p.Take("task", ("instance.spec",))
    assert again == p.Take("again", ("work.Bad", "person.retry"), optional=True)
    file = p.Take("text", ("parent.plan.Planned.file",), is_file=True)
    assert outer == p.Take("outer", optional=True, parts=(file,))


def test_a_question_mark_behind_the_path_also_makes_an_input_optional() -> None:
    protocol = parse_definition(SMALL.replace("plan: Planned,", "plan: Planned?,"), FILE).protocol
    assert protocol is not None
    actor = protocol.states["work"].actor
    assert isinstance(actor, p.Agent)
    assert actor.ask is not None
    assert actor.ask.takes[0] == p.Take("plan", ("plan.Planned",), optional=True)


def test_the_words_of_an_agent_are_read() -> None:
    work, ask = agent("work")
    assert (work.role, work.prompt, ask.workspace, ask.fork_of) == (
        "worker", "work.j2", "tests", "planner",
    )  # fmt: skip
    assert (ask.allows, ask.denies) == (("instance.spec.file",), ("plan.Planned.file",))
    assert (ask.memory, ask.stalled) == (("seen", "passed"), "seen.failing")
    done, bad, _ = work.exits
    assert done.advisory == ("count",)
    assert (bad.severity, bad.hint) == ("MINOR", "look_again")
    assert done.measures == (p.Measure("red", ("plan.Planned.file",), ("plan.Planned.base",)),)
    plan, asked = agent("plan")
    assert (plan.timeout_s, asked.workspace) == (90, "main")
    assert plan.exits[0].filled == {"base": "engine.head", "print": "engine.patch"}
    assert [m.name for m in plan.exits[0].measures] == ["builds", "exists", "covers"]
    assert small().states["plan"].title == "Planning"
    _, merge = agent("merge")
    assert (merge.of_parent, merge.mechanical, merge.at) == (True, True, "candidate.clean.commit")
    assert merge.diff == ("candidate.clean.old", "candidate.clean.commit")


def test_a_diff_may_end_where_the_branch_stands() -> None:
    text = SMALL.replace(", to: candidate.clean.commit}", "}")
    assert errors_in(findings(text)) == []


def test_names_of_the_exit_go_before_names_of_the_input_in_a_check() -> None:
    plan, _ = agent("plan")
    covers = plan.exits[0].measures[2]
    assert covers == p.Measure("covers", ("instance.spec.parts.id",), ("plan.Planned.parts.id",))


def test_an_exit_may_be_the_name_of_a_record() -> None:
    text = SMALL.replace("Hard: {why: Text}", "Hard: Part")
    protocol = parse_definition(text, FILE).protocol
    assert protocol is not None
    actor = protocol.states["work"].actor
    assert isinstance(actor, p.Agent)
    assert actor.exits[2].record == protocol.types["Part"]


def test_people_ends_and_git_are_read() -> None:
    states = small().states
    assert states["person"].actor == p.Human(
        "failure", "person", "Stuck",
        (p.Option("retry", "again", needs_text=True), p.Option("stop", "it ends")),
        shows=("work.Hard",),
    )  # fmt: skip
    assert states["lost"].actor == p.End("failed", ("work.Hard",))
    assert states["publish"].actor == p.Git(op="publish", candidate="candidate.clean")
    assert states["publish"].holds == ("target",)


def test_a_choice_becomes_one_edge_for_each_of_its_ways() -> None:
    first, second = edges("redo", "conflict")
    assert (first.guards, first.targets) == ((p.Guard("parent", "filled"),), (p.Target("lost"),))
    assert (second.guards, second.targets) == ((), (p.Target("person"),))


def test_a_choice_for_a_spent_budget_guards_the_whole_edge() -> None:
    first, second = edges("redo", "refused")
    assert first.targets == second.targets == (p.Target("kids"),)
    assert (first.spent, second.spent) == ((p.Target("lost"),), (p.Target("person"),))


def test_two_choices_in_one_edge_are_combined_in_order() -> None:
    text = SMALL.replace(
        "  halt: [{when",
        "  other: [{when: instance.target, to: person}, {to: kids}]\n  halt: [{when",
    ).replace("redo.refused: {to: kids", "redo.refused: {to: other")
    protocol = parse_definition(text, FILE).protocol
    assert protocol is not None
    found = list(protocol.edges_of("redo", "refused"))
    ways = [(edge.targets[0].state, edge.spent[0].state, len(edge.guards)) for edge in found]
    assert ways == [
        ("person", "lost", 2),
        ("person", "person", 1),
        ("kids", "lost", 1),
        ("kids", "person", 0),
    ]


def test_what_rearms_a_join_is_forgotten_on_the_way_out_and_what_is_latched_stays() -> None:
    (edge,) = edges("both", "ready")
    assert edge.forgets == ("work.Done",)
    assert edge.targets == (p.Target("candidate"),)


def test_an_edge_to_the_state_of_the_epoch_pays_and_restores() -> None:
    (edge,) = edges("update", "refused")
    assert (edge.charges, edge.spent, edge.resets) == ("plans", (p.Target("lost"),), ("rounds",))
    assert edge.is_alone


def test_within_an_epoch_and_free_of_charge_are_ways_out_of_paying() -> None:
    (same,) = edges("person", "retry")
    assert (same.charges, same.resets, same.is_alone) == ("", (), False)
    free, paid = edges("update", "conflict")
    assert (free.charges, paid.charges) == ("rounds", "plans")
    text = SMALL.replace("free: true, charge: rounds, spent: lost}", "free: true}")
    protocol = parse_definition(text, FILE).protocol
    assert protocol is not None
    edge = next(protocol.edges_of("update", "conflict"))
    assert (edge.charges, edge.resets, edge.is_alone) == ("", ("rounds",), True)


def test_an_edge_says_what_it_charges_forgets_keeps_and_becomes() -> None:
    (bad,) = edges("work", "Bad")
    assert (bad.charges, bad.spent_as) == ("tries", "Hard")
    assert bad.keeps == (p.Keep("seen", "work.Bad", append=True),)
    (done,) = edges("work", "Done")
    assert done.keeps == (p.Keep("passed", "work.Done.tests"),)
    hard = edges("work", "Hard")
    assert all(edge.is_alone for edge in hard)
    again = edges("candidate", "refused")[-1]
    assert (again.charges, again.resets) == ("rounds", ("tries",))


def test_a_git_state_may_say_what_its_commits_say() -> None:
    text = SMALL.replace("{git: candidate,", '{git: candidate, message: "merge {id}",')
    reading = parse_definition(text, FILE)
    assert reading.protocol is not None
    actor = reading.protocol.states["candidate"].actor
    assert isinstance(actor, p.Git)
    assert actor.message == "merge {id}"


def respecified(written: str) -> str:
    return SMALL.replace("redo.clean: {to: both}", f"redo.clean: {{to: both, spec: {written}}}")


def test_an_edge_may_change_what_the_instance_is_about() -> None:
    reading = parse_definition(respecified("{file: Planned.file}"), FILE)
    assert reading.protocol is not None
    (clean,) = reading.protocol.edges_of("redo", "clean")
    assert clean.respecifies == {"file": "plan.Planned.file"}
    for written in ("{fyle: Planned.file}", "{file: Planned.fyle}"):
        (found, *_) = findings(respecified(written))
        assert found.code == "unknown-path"
        assert found.place is not None
        assert found.place.line == 73
    assert findings(respecified("{file: [[]]}"))[0].code == "wrong-type"


def test_guards_test_for_filled_empty_equal_and_within() -> None:
    assert edges("kids", "settled")[0].guards == (p.Guard("kids.settled.failed", "filled"),)
    assert edges("candidate", "refused")[0].guards[0] == p.Guard("instance.target", "empty")
    assert edges("merge", "Merged")[0].guards == (
        p.Guard("merge.Merged.impact", "equals", "Large"),
    )
    within = p.Guard("update.conflict.files", "within", "plan.Planned.file instance.spec.file")
    assert edges("update", "conflict")[0].guards == (within,)


def test_files_can_touch_paths() -> None:
    """E7"""
    written = SMALL.replace("files within", "files touches")
    read = parse_definition(written, FILE).protocol
    assert read is not None
    assert next(read.edges_of("update", "conflict")).guards[0].test == "touches"
    wrong = findings(SMALL.replace("impact == Large", "author touches plan.Planned.file"))
    assert wrong[0].code == "wrong-type"


@pytest.mark.parametrize(
    "literal", ["engine.rounds.count == 2", "engine.rounds.left == -1", "author == somebody"]
)
def test_numbers_and_texts_can_be_compared(literal: str) -> None:
    assert findings(SMALL.replace("impact == Large", literal)) == ()


def test_due_is_what_an_interrupt_had_put_off() -> None:
    (edge,) = edges("update", "clean")
    assert edge.targets == (p.Target(is_due=True),)


def test_paths_go_into_lists_pairs_and_to_the_parent_of_a_parent() -> None:
    wanted = "{plan: Planned, a: instance.spec.pair.1, b: kids.settled.failed.spec.parts.id?,"
    wanted += " c?: parent.parent.Planned.parts.file, d?: parent, e?: engine.siblings.impact,"
    wanted += " f?: engine.update.newParentHead, g: engine.children.allowed,"
    reading = parse_definition(SMALL.replace("{plan: Planned,", wanted), FILE)
    assert reading.findings == ()
    full, minimal = reading.samples["work"]
    assert len(full["a"]) == 40
    assert all(isinstance(each, str) for each in full["b"])
    assert full["d"].keys() == {"nodeId", "branch"}
    assert minimal["c"] is None


def test_samples_hold_what_a_prompt_gets_once_for_every_alternative_and_once_minimal() -> None:
    reading = parse_definition(SMALL, FILE)
    assert reading.prompts["plan"] == ("templates/plan.j2", "plan.j2")
    first, second, minimal = reading.samples["plan"]
    assert (first["again"]["kind"], second["again"]["kind"]) == ("Bad", "retry")
    assert minimal["again"] is None
    assert first["outer"] == {"text": "the content of a file"}
    assert minimal["outer"] is None
    other = SMALL.replace("[Bad, person.retry]", "[Bad, instance.revision]")
    told = parse_definition(other.replace(", text: true", ""), FILE)
    assert told.samples["plan"][1]["again"]["kind"] == "rework"
    full, least = reading.samples["work"]
    assert full["memory"]["seen"][0].keys() == {"failing", "size"}
    assert least["memory"] == {"seen": [], "passed": []}
    assert full["budget"]["tries"].keys() == {"count", "spent", "limit", "left"}
    assert {"where", "commands", "instance"} < full.keys()


@pytest.mark.parametrize(
    "text, file, is_graph",
    [
        ("[]", "a.graph.yaml", True),
        ("a: 1", "a.GRAPH.YML", True),
        ("states: {}\nedges: {}", "a.yaml", True),
        ("states: {}", "a.yaml", False),
        ("[states, edges]", "a.yaml", False),
    ],
)
def test_a_graph_is_known_by_its_name_or_by_its_blocks(
    text: str, file: str, is_graph: bool
) -> None:
    assert graph.recognises(formats.read_tree(text, file)) is is_graph
