"""What a graph promises about its data and its ways is proved before anything runs."""

from collections.abc import Mapping

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import Finding

FILE = "line.graph.yaml"
HEAD = """\
document: {name: line}
spec: Task
types: {Task: {id: Text, file: FilePath, parts: "[Task]"}}
budgets: {rounds: 3}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
"""
STATES = {
    "first": "{role: r, template: t, exits: {One: {a: Text, c: Commit, f: FilePath}, "
    "Two: {b: Text}}}",
    "second": "{role: r, template: t, exits: {Three: {d: Text}}}",
    "lost": "{end: failed, shows: [One, Two, Three]}",
    "done": "{end: complete}",
}
EDGES = {
    "first.One": "{to: second}",
    "first.Two": "{to: second}",
    "second.Three": "{to: done}",
}
Lines = Mapping[str, str]


def block(name: str, lines: Lines) -> str:
    written = "".join(f"  {key}: {value}\n" for key, value in lines.items() if value)
    return f"{name}:\n{written}"


def line(states: Lines, edges: Lines, more: str = "") -> str:
    """Two agents, one behind the other; what is told replaces a line or is a new one."""
    return HEAD + more + block("states", {**STATES, **states}) + block("edges", {**EDGES, **edges})


def second(words: str) -> dict[str, str]:
    return {"second": f"{{role: r, template: t, {words}, exits: {{Three: {{d: Text}}}}}}"}


def told(states: Lines, edges: Lines, more: str = "") -> list[tuple[str, str]]:
    """For each finding its code, and what begins the line that it points at.

    Most of these lines charge nothing; that they have a budget all the same is no matter here.
    """
    text = line(states, edges, more)
    found = [each for each in parse_definition(text, FILE).findings if each.code != "idle-budget"]
    return [(each.code, pointed(text, each)) for each in found]


def pointed(text: str, finding: Finding) -> str:
    assert finding.place is not None
    return text.splitlines()[finding.place.line - 1].split(":")[0].strip()


def test_the_line_by_itself_is_fine() -> None:
    assert told({}, {}) == []


def test_at_the_beginning_only_the_instance_is_known() -> None:
    def first(path: str) -> dict[str, str]:
        return {"first": STATES["first"].replace("exits", f"input: {{x: {path}}}, exits")}

    assert told(first("instance.spec"), {}) == []
    assert told(first("engine.rounds.left"), {}) == []
    assert told(first("Three?"), {}) == []
    assert told(first("Three"), {}) == [("unsupplied", "first")]


@pytest.mark.parametrize("path", ["parent", "parent.One", "parent.instance.spec"])
def test_the_root_has_no_parent(path: str) -> None:
    assert told(second(f"input: {{x: {path}}}"), {}) == [("unsupplied", "first.One")]
    assert told(second(f"input: {{x: {path}}}"), {"first.Two": "{to: done}"}) != []
    guarded = "[{when: parent, to: second}, {to: done}]"
    assert told(second(f"input: {{x: {path}}}"), {"first.One": guarded, "first.Two": guarded}) == []


def test_what_only_one_way_in_brings_is_not_supplied() -> None:
    assert told(second("input: {x: One}"), {}) == [("unsupplied", "first.Two")]
    assert told(second("input: {x: One.a}"), {"first.Two": "{to: done}"}) == []
    assert told(second("input: {x?: One}"), {}) == []


def test_of_several_paths_one_is_enough() -> None:
    assert told(second("input: {x: [One, Two]}"), {}) == []


def test_parts_of_an_input_are_needed_unless_the_whole_is_optional() -> None:
    assert told(second("input: {x: {y: One, z?: Two}}"), {}) == [("unsupplied", "first.Two")]
    assert told(second("input: {x?: {y: One, z: Two}}"), {}) == []


@pytest.mark.parametrize(
    "words",
    [
        "at: One.c",
        "diff: {from: One.c}",
        "diff: {from: engine.update.newParentHead}",
        "checks: {Three: [{covers: {every: One.a, by: [d]}}]}",
    ],
)
def test_commits_and_what_checks_compare_with_must_be_supplied(words: str) -> None:
    found = told(second(words), {})
    assert found[-1][0] in ("unsupplied", "unknown-path")
    assert told(second("checks: {Three: [{covers: {every: d, by: [d]}}]}"), {}) == []


def test_what_fills_a_field_must_be_supplied() -> None:
    filled = "{role: r, template: t, exits: {Three: {d: Text = One.a}}}"
    assert told({"second": filled}, {}) == [("unsupplied", "first.Two")]
    assert told({"second": filled}, {"first.Two": "{to: done}"}) == []


def test_what_git_reads_must_be_supplied() -> None:
    git = {"git": "{git: contract, reads: [One]}"}
    ways = {f"git.{exit_}": "{to: done}" for exit_ in ("clean", "refused", "conflict")}
    assert told(git, {**ways, "first.One": "{to: git}"}) == []
    assert told(git, {**ways, "first.Two": "{to: git}"}) == [("unsupplied", "first.Two")]


def test_what_an_edge_keeps_must_be_supplied() -> None:
    reads = second("memory: [slot]")
    assert told(reads, {"first.One": "{to: second, keep: {slot: a}}"}) == []
    lost = {"first.One": "{to: second, keep: {slot: Two.b}}"}
    assert told(reads, lost) == [("unsupplied", "first.One")]
    kept = {"second.Three": "{to: done, keep: {slot: d}, forget: [Three]}"}
    assert told(reads, kept) == []


def test_what_is_forgotten_is_no_longer_supplied() -> None:
    forget = {"first.One": "{to: second, forget: [One]}", "first.Two": "{to: done}"}
    assert told(second("input: {x: One}"), forget) == [("unsupplied", "first.One")]


def test_a_guard_supplies_what_it_has_seen() -> None:
    for guard in ("when: One", "when: One.a", "when: One.a == x", "when: One.f within One.f"):
        ways = {"first.Two": f"[{{{guard}, to: second}}, {{to: done}}]"}
        assert told(second("input: {x: One}"), ways) == [], guard
    ways = {"first.Two": "[{unless: One, to: second}, {to: done}]"}
    assert told(second("input: {x: One}"), ways) == [("unsupplied", "first.Two")]


def test_behind_a_way_for_its_absence_the_others_have_it() -> None:
    ways = {"first.Two": "[{unless: One, to: done}, {to: second}]"}
    assert told(second("input: {x: One}"), ways) == []
    ways = {"first.Two": "[{unless: One, when: b, to: done}, {to: second}]"}
    assert told(second("input: {x: One}"), ways) == [("unsupplied", "first.Two")]


def test_the_target_is_known_behind_its_guard_and_to_children() -> None:
    takes = second("input: {x: instance.target.branch}")
    assert told(takes, {}) == [("unsupplied", "first.One")]
    for guard in ("instance.target", "parent"):
        ways = f"[{{when: {guard}, to: second}}, {{to: done}}]"
        assert told(takes, {"first.One": ways, "first.Two": ways}) == []


def test_a_spent_budget_is_a_way_in_too() -> None:
    again = {"second.Three": "{to: second, charge: rounds, spent: third}"}
    third = {"third": "{role: r, template: t, input: {x: One}, exits: {Four: {}}}"}
    assert told(third, {**again, "third.Four": "{to: done}"}) == [("unsupplied", "second.Three")]


FORK = {
    "third": "{role: r, template: t, exits: {Four: {}, Five: {}}}",
}
FORKED = {
    "first.One": "{to: [second, third, both]}",
    "first.Two": "{to: done}",
    "second.Three": "{to: both}",
    "third.Four": "{to: both}",
    "third.Five": "{to: lost}",
}


def joined(waits: str, to: str = "done") -> str:
    return f"joins:\n  both: {{{waits}, to: {to}}}\n"


def test_behind_a_join_everything_that_it_waited_for_is_known() -> None:
    last = {"last": "{role: r, template: t, input: {x: Four, y: Three, z: One}, exits: {Six: {}}}"}
    ways = {**FORKED, "last.Six": "{to: done}"}
    assert told(FORK | last, ways, joined("latched: [Three, Four]", "last")) == []
    again = told(FORK | last, ways, joined("rearm: [Three], latched: [Four]", "last"))
    assert again == [("unsupplied", "both")]


def test_of_several_ways_to_say_what_a_join_waits_for_only_the_common_is_known() -> None:
    last = {"last": "{role: r, template: t, input: {x: Five}, exits: {Six: {}}}"}
    ways = {**FORKED, "last.Six": "{to: done}"}
    split = {**ways, "third.Four": "[{when: Five, to: both}, {to: both}]"}
    assert told(FORK | last, split, joined("latched: [Three, Four]", "last")) == [
        ("unsupplied", "both")
    ]


def test_a_join_that_waits_for_what_cannot_come_before_it_is_refused() -> None:
    late = {**FORKED, "first.One": "{to: [second, both]}"}
    late |= {"third.Four": "{to: both, charge: rounds, spent: lost}"}
    found = told(FORK, late, joined("latched: [Three, Four]", "third"))
    assert found == [("unreachable-join", "both")]


def test_a_way_that_ends_in_a_join_which_does_not_wait_for_it_is_refused() -> None:
    found = told(FORK, FORKED, joined("latched: [Three]"))
    assert found == [("unreachable-join", "third.Four")]


def test_a_way_that_goes_on_beside_a_join_need_not_be_waited_for() -> None:
    assert told(FORK, FORKED, joined("latched: [Three, Four]")) == []


def test_a_field_that_reaches_nobody_is_told_where_it_is_declared() -> None:
    found = told({"lost": "{end: failed, shows: [One, Two]}"}, {})
    assert found == [("dead-field", "second")]
    own = second("checks: {Three: [{some: d}]}")
    assert told(own | {"lost": "{end: failed, shows: [One, Two]}"}, {}) == [
        ("dead-field", "second")
    ]
    unused = second("unused: [Three.d]")
    assert told(unused | {"lost": "{end: failed, shows: [One, Two]}"}, {}) == []


@pytest.mark.parametrize(
    "states, edges",
    [
        (second("input: {x?: parent.parent.Three.d}"), {}),
        (second("allows: [instance.spec.file], input: {x?: [Three, One]}"), {}),
        ({}, {"second.Three": "[{when: d, to: done}, {to: lost}]"}),
        ({"second": STATES["second"].replace("d: Text", "d: FilePath")},
         {"second.Three": "[{when: instance.spec.file within Three.d, to: done}, {to: lost}]"}),
        (second("memory: [slot]"), {"second.Three": "{to: done, keep: {slot: d}}"}),
        ({"ask": "{human: question, shows: [Three.d], options: {ok: {means: on}}}"},
         {"second.Three": "{to: ask}", "ask.ok": "{to: done}"}),
    ],
)  # fmt: skip
def test_a_field_is_consumed_by_inputs_guards_memory_and_people(
    states: Lines, edges: Lines
) -> None:
    silent = {"lost": "{end: failed, shows: [One, Two]}"}
    assert told({**states, **silent}, edges) == []


def test_a_field_is_consumed_where_its_exit_becomes_another() -> None:
    exits = "{role: r, template: t, exits: {Three: {d: Text}, More: {d: Text, e: Text}}}"
    ways = {"second.More": "{to: second, charge: rounds, spent_as: Three}"}
    assert told({"second": exits}, ways) == []


def test_exits_that_become_each_other_have_no_end() -> None:
    exits = "{role: r, template: t, exits: {Three: {d: Text}, More: {}, Most: {}}}"
    ways = {
        "second.Three": "{to: done, charge: rounds, spent_as: More}",
        "second.More": "{to: done, charge: rounds, spent_as: Most}",
        "second.Most": "{to: done, charge: rounds, spent_as: More}",
    }
    assert told({"second": exits}, ways) == [("endless", "second.More"), ("endless", "second.Most")]
    assert told({"second": exits}, {**ways, "second.Most": "{to: done}"}) == []


def test_children_and_their_rework_consume_what_they_are_made_of() -> None:
    states = {
        "first": '{role: r, template: t, exits: {One: {a: "[Task]", c: "[Text]"}, Two: {b: Text}}}',
        "lost": "{end: failed, shows: [Two, Three]}",
    }
    spawn = "spawn: {state: kids, specs: One.a, rework: One.c}\n"
    ways = {"first.One": "{to: kids}", "kids.settled": "{to: second}"}
    assert told(states, ways, spawn) == []
    assert told(states, {**ways, "first.Two": "{to: kids}"}, spawn) == [("unsupplied", "first.Two")]


INTERRUPTS = "interrupts:\n  sibling: {state: up, on: One, event: Two, before: [second]}\n"


def handler(words: str) -> dict[str, str]:
    return {"up": f"{{role: r, template: t, input: {{{words}}}, exits: {{Ok: {{}}}}}}"}


def test_only_who_is_interrupted_has_an_update_and_a_target() -> None:
    up = handler("x: engine.update, y: instance.target.branch")
    assert told(up, {"up.Ok": "{to: due}"}, INTERRUPTS) == []
    direct = {"up.Ok": "{to: due}", "first.One": "{to: up}"}
    assert ("unsupplied", "first.One") in told(up, direct, INTERRUPTS)


def test_the_root_is_interrupted_too_when_its_target_moves() -> None:
    up = handler("x: engine.update, y: parent.One")
    assert ("unsupplied", "first.One") in told(up, {"up.Ok": "{to: due}"}, INTERRUPTS)


def test_what_an_update_forgets_is_missing_in_the_state_that_was_due() -> None:
    states = {**second("input: {x: One}"), **handler("y: engine.update")}
    ways = {"first.Two": "{to: done}"}
    assert told(states, {**ways, "up.Ok": "{to: due}"}, INTERRUPTS) == []
    forgets = {**ways, "up.Ok": "{to: due, forget: [One]}"}
    assert told(states, forgets, INTERRUPTS) == [("unsupplied", "up.Ok")]


def test_what_is_forgotten_anywhere_in_an_update_is_missing_behind_it() -> None:
    said = {"again": "{role: r, template: t, exits: {Ready: {r: Text}}}"}
    states = {**second("input: {x: One, y: again.Ready?}"), **handler("y: engine.update"), **said}
    ways = {
        "first.Two": "{to: done}",
        "up.Ok": "{to: again, forget: [One]}",
        "again.Ready": "{to: due}",
    }
    assert told(states, ways, INTERRUPTS) == [("unsupplied", "again.Ready")]


JOINED = "joins: {both: {latched: [left.L, right.R], to: second}}\n"


def parted(right: str) -> tuple[dict[str, str], dict[str, str]]:
    """Two branches side by side, and what the right one does when it is done."""
    states = {
        **second("input: {x: One, l: L.l, r: R.r}"),
        "left": "{role: r, template: t, exits: {L: {l: Text}}}",
        "right": "{role: r, template: t, exits: {R: {r: Text}}}",
    }
    edges = {
        "first.One": "{to: [left, right, both]}",
        "first.Two": "{to: done}",
        "left.L": "{to: both}",
        "right.R": right,
    }
    return states, edges


def test_what_a_branch_forgets_is_missing_behind_the_join() -> None:
    assert told(*parted("{to: both}"), JOINED) == []
    forgets = parted("{to: both, forget: [One]}")
    assert told(*forgets, JOINED) == [("unsupplied", "joins")]


def test_only_the_way_that_lacks_an_input_is_told_and_all_of_these_ways_are() -> None:
    states = {**second("input: {x: One}"), "third": "{role: r, template: t, exits: {Back: {}}}"}
    ways = {
        "second.Three": "{to: third}",
        "third.Back": "{to: second, charge: rounds, spent: done}",
    }
    assert told(states, ways) == [("unsupplied", "first.Two")]
    both = {**ways, "third.Back": "{to: second, charge: rounds, spent: done, forget: [One]}"}
    assert told(states, both) == [("unsupplied", "first.Two"), ("unsupplied", "third.Back")]


def test_a_way_of_supervision_points_at_its_own_word() -> None:
    assert told(second("input: {x: One}"), {"first.Two": "{to: done}"}) == []
    takes = second("input: {x: One}")
    ways = {"first.Two": "{to: done}", "second.silent": "{to: done}"}
    text = line(takes, ways).replace("silent: lost", "silent: second")
    found = parse_definition(text, FILE).findings
    [missing] = [each for each in found if each.code == "unsupplied"]
    assert pointed(text, missing) == "supervision"


@pytest.mark.parametrize(
    "edges, code, where",
    [
        ({"second.Three": ""}, "missing-edge", "second"),
        ({"first.Two": "{when: parent, to: done}"}, "guarded-edge", "first.Two"),
        ({"first.Two": "[{to: done}, {when: parent, to: second}]"}, "dead-edge", "first.Two"),
        ({"second.Three": "{to: first}"}, "endless", "first"),
        ({"second.Three": "{to: due}"}, "unknown-state", "second.Three"),
        ({"first.One": "{to: done}", "first.Two": "{to: done}"}, "unreachable", "second"),
    ],
)
def test_the_ways_of_a_graph_are_proved(edges: Lines, code: str, where: str) -> None:
    assert (code, where) in told({}, edges)


def test_every_run_comes_to_an_end() -> None:
    people = {
        "lost": "{human: failure, options: {again: {means: once more}}, shows: [One, Two, Three]}"
    }
    ways = {"lost.again": "{to: first}", "second.Three": "{to: lost}"}
    assert ("no-end", "first") in told(people | {"done": ""}, ways)


GATE = (
    "{human: gate, title: G, shows: [One, Two], "
    "options: {rejected: {means: again, text: true}, ok: {means: on}}}"
)
GATED = {"first.One": "{to: gate}", "first.Two": "{to: gate}", "gate.ok": "{to: second}"}


def test_k10_a_text_that_somebody_types_and_no_input_reads_is_told_at_its_option() -> None:
    edges = {**GATED, "gate.rejected": "{to: first, charge: rounds, spent: lost}"}
    assert told({"gate": GATE}, edges) == [("unread-text", "gate")]


def test_k10_a_text_that_is_read_or_asked_of_nobody_or_ends_the_run_is_fine() -> None:
    back = {**GATED, "gate.rejected": "{to: first, charge: rounds, spent: lost}"}
    first = STATES["first"].replace("exits:", "input: {said?: gate.rejected.text}, exits:")
    assert told({"gate": GATE, "first": first}, back) == []
    assert told({"gate": GATE.replace(", text: true", "")}, back) == []
    assert told({"gate": GATE}, {**GATED, "gate.rejected": "{to: lost}"}) == []


def test_a_state_that_is_never_given_a_merge_cannot_finish_one() -> None:
    """Only a mechanical state is handed the merge that clashes."""
    up = "{{role: r, template: t, {}checks: {{Ok: [settled]}}, exits: {{Ok: {{}}}}}}"
    ways = {"up.Ok": "{to: due}"}
    assert told({"up": up.format("")}, ways, INTERRUPTS) == [("wrong-value", "up")]
    assert told({"up": up.format("mechanical: true, ")}, ways, INTERRUPTS) == []


@pytest.mark.parametrize("path", ["parts.settled.failed.why.payload", "instance.revision.payload"])
def test_what_was_said_somewhere_is_no_text(path: str) -> None:
    """At run time it is the fields of whichever exit it was."""
    spawn = "spawn: {state: parts, specs: instance.spec.parts}\n"
    ways = {"first.One": "{to: parts}", "parts.settled": "{to: second}", "first.Two": "{to: done}"}
    takes = second(f"input: {{x: {path}?}}, checks: {{Three: [{{some: d}}, {{names: x}}]}}")
    assert ("wrong-type", "second") in told(takes, ways, spawn)


def test_the_text_of_an_option_that_asks_for_none_may_be_missing() -> None:
    asks = "{human: question, options: {yes: {means: y, text: true}, no: {means: n}}}"
    ways = {"first.One": "{to: ask}", "ask.yes": "{to: second}", "ask.no": "{to: second}"}
    for option, type_ in (("yes", "Text"), ("no", "Maybe Text")):
        takes = second(f"input: {{x: ask.{option}.text?}}, checks: {{Three: [{{exists: x}}]}}")
        found = parse_definition(line({"ask": asks, **takes}, ways), FILE).findings
        assert [each.message for each in found if each.code == "wrong-type"] == [
            f"'x' is {type_}; this check needs a FilePath"
        ]


@pytest.mark.parametrize("key", ["depth", "fan_out", "instances"])
def test_a_limit_that_lets_no_child_begin_is_found(key: str) -> None:
    spawn = f"spawn: {{state: parts, specs: instance.spec.parts, {key}: 0}}\n"
    ways = {"first.One": "{to: parts}", "parts.settled": "{to: second}"}
    assert ("wrong-value", "spawn") in told({}, ways, spawn)


def test_who_only_reads_cannot_be_allowed_files() -> None:
    assert told(second("workspace: read, allows: [instance.spec.file]"), {}) == [
        ("wrong-value", "second")
    ]
    assert told(second("workspace: read, denies: [instance.spec.file]"), {}) == [
        ("wrong-value", "second")
    ]


def test_own_tests_are_files_and_a_message_knows_the_id_only() -> None:
    def merges(own: str, message: str) -> dict[str, str]:
        words = f'approved: One.p, own: [{own}], message: "{message}"'
        one = "{role: r, template: t, exits: {One: {p: Text = engine.patch}, Two: {}}}"
        return {"first": one, "third": f"{{git: candidate, {words}}}"}

    ways = {
        "first.One": "[{when: instance.target, to: third}, {to: second}]",
        "third.clean": "{to: done}",
        "third.refused": "{to: done}",
        "third.conflict": "{to: done}",
    }
    assert told(merges("instance.spec.file", "a({id})"), ways) == []
    assert ("wrong-value", "third") in told(merges("instance.spec.file", "a({idd})"), ways)
    assert ("wrong-type", "third") in told(merges("instance.spec.id", "a({id})"), ways)


@pytest.mark.parametrize(
    "path, full, least",
    [
        ("One.part.name", "text", None),
        ("One.part.more.name", ["[0]", "[1]"], None),
        ("One.parts.name", ["[0]", "[1]"], []),
        ("One.parts.more", [{"name": "[0].name"}, {"name": "[1].name"}], []),
        ("One.parts.note", ["[0]", "[1]"], []),
    ],
)
def test_t8_behind_a_value_that_may_be_null_there_may_be_nothing(
    path: str, full: object, least: object
) -> None:
    """As the engine walks: null leads to null, and in a list null is left out."""
    types = 'types: {Part: {name: Text, note: Maybe Text, more: "Maybe [Leaf]"}, Leaf: {name: Text}'
    states = {
        "first": '{role: r, template: t, exits: {One: {part: Maybe Part, parts: "[Part]"}}}',
        "lost": "{end: failed, shows: [One, Three]}",
        **second(f"input: {{it: {path}}}"),
    }
    text = line(states, {"first.Two": ""}).replace("types: {Task: ", f"{types}, Task: ")
    samples = parse_definition(text, FILE).samples["second"]
    assert (samples[0]["it"], samples[-1]["it"]) == (full, least)
