"""Every shape that real plans have is read, and what is wrong in one is said with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.dialects.plan_xml.task_order import order_tasks
from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError, Finding
from porch.text.xml_tree import read_xml
from tests.plans import AI, HUMAN, compiled, confirm, phase, plan, read, task


def findings(text: str) -> list[tuple[str, str]]:
    return [(found.code, found.severity) for found in read(text).findings]


def only(text: str, code: str) -> Finding:
    (found,) = [each for each in read(text).findings if each.code == code]
    return found


SHAPES = {
    "with its wrappers": plan(phase("P1", task("T1.1", confirm()))),
    "phases without a wrapper": f"<plan>{phase('P1', task('T1.1', confirm()))}</plan>",
    "tasks without a wrapper": plan(f'<phase id="P1">{task("T1.1", confirm())}</phase>'),
    "a status as a child": plan(
        phase("P1", f'<task id="T1.1"><status>TODO</status>{confirm()}</task>')
    ),
    "a namespace": plan(phase("P1", task("T1.1", confirm())))
    .replace("<plan>", '<plan xmlns="urn:codument:v1">')
    .replace("<phases>", "<phases >"),
    "names with a prefix": "<c:plan xmlns:c='urn:c'><c:phase id='P1'><c:task id='T1.1' "
    f"status='TODO'>{confirm()}</c:task></c:phase></c:plan>",
    "elements that nobody knows": plan(
        phase("P1", "<owner_note>x</owner_note>", task("T1.1", confirm(), "<sparkle a='1'/>"))
    ),
    "a tasks.xml": f"<track><phases>{phase('P1', task('T1.1', confirm()))}</phases></track>",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_d3_every_shape_of_real_files_is_read(shape: str) -> None:
    found = read(SHAPES[shape]).plan
    assert [(node.id, len(node.confirms)) for node in found.nodes()] == [("P1", 0), ("T1.1", 1)]
    assert "T1_1-after" in compiled(SHAPES[shape]).states


def test_all_parts_of_a_task_are_read() -> None:
    text = plan(
        phase(
            "P1",
            "<goal>why</goal>",
            task(
                "T1.1",
                "<acceptance_criteria><criterion id='a' checked='true'>it  holds</criterion>"
                "<criterion>or so</criterion></acceptance_criteria>",
                "<subtasks><subtask id='T1.1.1' name='one' status='DONE'>"
                "<subtasks><subtask id='T1.1.1.1' name='deep' status='TODO'/></subtasks>"
                "</subtask></subtasks>",
                "<references><ref>src/a.py:3</ref><ref/></references>",
                "<description>the\n   real text</description>",
            ),
        )
    )
    (found,) = read(text).plan.tasks()
    assert found.text == "the\nreal text"
    assert [(each.text, each.is_checked) for each in found.criteria] == [
        ("it  holds", True),
        ("or so", False),
    ]
    assert [(each.id, each.status) for each in found.subtasks] == [
        ("T1.1.1", "DONE"),
        ("T1.1.1.1", "TODO"),
    ]
    assert found.files == ("src/a.py:3",)


def test_subtasks_of_subtasks_end_somewhere() -> None:
    inside = "<subtask id='T1.1.1' status='TODO'>" * 20 + "</subtask>" * 20
    (found,) = read(plan(phase("P1", task("T1.1", inside)))).plan.tasks()
    assert len(found.subtasks) == 8


@pytest.mark.req("C-027", "C-040")
def test_a4_a_confirm_must_say_when() -> None:
    for when, words in (("", "does not say when"), ("sometimes", "unknown moment 'sometimes'")):
        found = only(plan(phase("P1", task("T1.1", confirm(when=when)))), "confirm-when")
        assert words in found.message
        assert (found.severity, found.place is not None) == ("error", True)


def test_a4_the_moment_may_be_in_capitals() -> None:
    (found,) = read(plan(phase("P1", task("T1.1", confirm(when="BOTH"))))).plan.tasks()
    assert found.confirms[0].moments == ("before", "after")


@pytest.mark.req("C-039")
def test_b2_a_review_must_say_who_reviews() -> None:
    text = plan(phase("P1", task("T1.1", confirm(AI).replace("checker", ""))))
    assert only(text, "confirm-agent").severity == "error"


def test_a_confirm_must_name_a_protocol_that_is_known() -> None:
    for protocol in ("", "yield-cat-confirm"):
        found = only(plan(phase("P1", confirm(protocol), task("T1.1"))), "confirm-protocol")
        assert found.severity == "error"


@pytest.mark.req("C-028")
def test_a3_a_missing_or_unknown_status_counts_as_todo_and_is_said() -> None:
    for written in ("", "DEFERRED"):
        text = plan(phase("P1", task("T1.1", confirm(status=written), status=written)))
        (found,) = read(text).plan.tasks()
        assert (found.status, found.confirms[0].status) == ("TODO", "TODO")
        assert findings(text).count(("plan-status", "warning")) == 2


def test_d8_a_status_in_small_letters_is_understood_and_said() -> None:
    text = plan(phase("P1", task("T1.1", status="done")))
    assert read(text).plan.phases[0].tasks[0].status == "DONE"
    assert ("plan-status", "warning") in findings(text)


def test_a5_the_same_question_twice_is_refused_and_different_ones_are_not() -> None:
    twice = plan(phase("P1", confirm(when="both"), confirm(when="after"), task("T1.1")))
    assert only(twice, "confirm-twice").severity == "error"
    assert findings(plan(phase("P1", confirm(when="before"), confirm(), task("T1.1")))) == []


def test_a16_a_dependency_that_can_never_be_met_is_refused() -> None:
    unknown = plan(phase("P1", task("T1.1", needs="T9.9")))
    later = plan(phase("P1", task("T1.1", needs="T2.1")), phase("P2", task("T2.1")))
    circle = plan(phase("P1", task("T1.1", needs="T1.2"), task("T1.2", needs="T1.1")))
    assert only(unknown, "plan-unknown-task").severity == "error"
    assert "move one of the tasks" in only(later, "plan-later-phase").fix
    assert "T1.1, T1.2" in only(circle, "plan-cycle").message
    backwards = plan(phase("P1", task("T1.1")), phase("P2", task("T2.1", needs="T1.1")))
    assert findings(backwards) == []


def test_a17_an_empty_phase_is_said() -> None:
    assert findings(plan(phase("P1"))) == [("plan-empty-phase", "warning")]


def test_d4_a_summary_is_counted_again() -> None:
    said = "<summary><total_tasks>7</total_tasks><todo>1</todo><completed>x</completed></summary>"
    text = plan(phase("P1", task("T1.1"))).replace("</plan>", f"{said}</plan>")
    assert "total_tasks = 7, counted are 1" in only(text, "plan-summary").message


def test_d5_ids_are_needed_and_used_once_and_odd_ones_are_only_said() -> None:
    assert ("plan-no-id", "error") in findings(plan(phase("P1", "<task status='TODO'/>")))
    assert ("plan-no-id", "error") in findings(plan("<phase><tasks/></phase>"))
    twice = plan(phase("P1", task("T1.1"), task("T1.1")))
    assert only(twice, "plan-duplicate-id").severity == "error"
    as_states = plan(phase("P1", task("T1.1"), task("T1_1")))
    assert only(as_states, "plan-duplicate-id").severity == "error", "both would be T1_1"
    assert findings(plan(phase("P1", task("T4.2a")))) == [("plan-odd-id", "warning")]


@pytest.mark.parametrize("id_", ["T1/1", "../x", "T1#1", "P1-after", "T1-before-ai", "complete"])
def test_an_id_that_would_be_mistaken_for_something_else_is_refused(id_: str) -> None:
    assert only(plan(phase("P1", task(id_))), "plan-bad-id").severity == "error"


def test_a_reviewer_has_a_name_that_an_agent_can_have() -> None:
    text = plan(phase("P1", task("T1.1", confirm(AI).replace("checker", "../x"))))
    assert "no name of an agent" in only(text, "confirm-agent").message


def test_smaller_things_are_said() -> None:
    priority = plan(phase("P1", task("T1.1").replace('"P0"', '"P3"')))
    assert findings(priority) == [("plan-priority", "warning")]
    waves = plan(phase("P1", task("T1.1"))).replace(
        "</metadata>", "<execution_mode>wave</execution_mode></metadata>"
    )
    assert findings(waves) == [("plan-wave", "warning")]
    assert findings("<plan/>") == [("plan-no-id", "warning"), ("plan-empty", "error")]


TRACK = """<Track id="login" xmlns:cdt="urn:codument:v1">
  <Metadata><Status>new</Status><Goal>g</Goal><CommitMode>manual</CommitMode></Metadata>
  <TaskSpace id="s" name="Login"><SubNodes>
    <TaskGroup id="g1" name="First" status="ACTIVE">
      <cdt:Gate><cdt:Criterion>green</cdt:Criterion></cdt:Gate>
      <Hooks><Hook on="phase:after" status="DONE"><cdt:HumanConfirm/></Hook>
        <Hook on="phase:before"><cdt:GapLoop max-rounds="5"/></Hook>
        <Hook on="phase:after"><cdt:AttractorCheck use="x"/></Hook></Hooks>
      <SubNodes>
        <Task id="a" name="A" status="DONE"><Description>do a</Description>
          <cdt:Acceptance><cdt:Criterion id="c" checked="true">ok</cdt:Criterion></cdt:Acceptance>
        </Task>
        <TaskGroup id="inner" status="NOT_STARTED"><SubNodes>
          <Task id="b" status="ACTIVE" cdt:blocker="a wall"/>
          <Task id="c" status="ABANDONED">text</Task>
        </SubNodes></TaskGroup>
      </SubNodes>
    </TaskGroup>
  </SubNodes></TaskSpace>
  <Schedule><Dag for="g1"><Node id="c"><After ref="b"/><After ref=""/></Node></Dag></Schedule>
</Track>"""


def test_d3_a_track_xml_is_read_as_far_as_it_maps() -> None:
    reading = read(TRACK)
    (group,) = reading.plan.phases
    assert [(t.id, t.status, t.needs) for t in group.tasks] == [
        ("a", "DONE", ()),
        ("b", "BLOCKED", ()),
        ("c", "CANCELLED", ("b",)),
    ]
    assert [(c.kind, c.moments, c.status) for c in group.confirms] == [
        ("human", ("after",), "DONE"),
        ("gap", ("before",), "TODO"),
    ]
    assert [each.text for each in group.criteria] == ["green"]
    assert group.tasks[0].criteria[0].is_checked
    assert [found.code for found in reading.findings] == ["plan-unread"]
    assert reading.plan.words == "track"


def test_hooks_of_track_xml_that_cannot_be_walked_are_said() -> None:
    wrong = TRACK.replace('on="phase:before"', 'on="task:before"')
    assert only(wrong, "confirm-when").severity == "error"
    of_track = TRACK.replace("<Schedule>", "<Hooks/><Schedule>")
    messages = [found.message for found in read(of_track).findings]
    assert any("hooks of the whole track" in message for message in messages)
    bare = TRACK.replace("<cdt:HumanConfirm/>", "")
    assert any("holds nothing" in found.message for found in read(bare).findings)


def test_d1_what_reaches_outside_the_file_is_refused() -> None:
    with pytest.raises(DefinitionError, match="xml-doctype"):
        parse_definition("<!DOCTYPE plan [<!ENTITY a 'b'>]><plan>&a;</plan>", "plan.xml")


CAUSES = [
    ("<plan><goal>a & b</goal></plan>", "write &amp;"),
    ("<plan><goal>a &b</goal></plan>", "write &amp;"),
    ("<plan><goal>1 < 2</goal></plan>", "write &lt;"),
    ("<plan n='a<b'/>", "write &lt;"),
    ("<plan><goal>use <task_x> here</goal></plan>", "&lt;task_x>"),
    ("<plan><task/></task></plan>", "remove the /"),
    ("<plan><goal>&nbsp;</goal></plan>", "write &amp;"),
    ("<plan><goal>", "close <goal> of line 1"),
]


@pytest.mark.parametrize("text, fix", CAUSES)
def test_d2_malformed_files_are_refused_with_the_likely_cause(text: str, fix: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_xml(text, "plan.xml")
    (found,) = caught.value.findings
    assert found.code == "xml-syntax"
    assert fix in found.fix
    assert found.place is not None
    assert found.place.line == 1


def test_other_faults_of_xml_have_no_cause_to_name() -> None:
    for text in ("<plan a=b/>", "<plan/>x", "", "<plan "):
        with pytest.raises(DefinitionError):
            read_xml(text or " ", "plan.xml")


def test_a_plan_with_errors_is_no_protocol_and_all_of_them_are_said() -> None:
    text = plan(phase("P1", confirm(when=""), task("T1.1", needs="T9.9")))
    reading = parse_definition(text, "plan.xml")
    assert reading.protocol is None
    assert [found.code for found in reading.findings] == ["confirm-when", "plan-unknown-task"]


def test_the_protocol_of_a_plan_does_not_know_its_statuses() -> None:
    new = plan(phase("P1", confirm(), task("T1.1"), task("T1.2")))
    done = new.replace('status="TODO"', 'status="DONE"')
    assert compiled(new) == compiled(done)


def test_prose_of_a_plan_is_no_template() -> None:
    text = plan(phase("P1", task("T1.1", "<description>{{ x }} {% y %}</description>")))
    reading = parse_definition(text, "plan.xml")
    assert "{{ '{' }}{{ '{' }} x }}" in reading.texts["T1_1"]


@pytest.mark.req("C-042", "C-044")
def test_b4_prompts_say_what_to_look_at_and_where() -> None:
    text = plan(phase("P1", confirm(AI, "both"), task("T1.1")))
    texts = parse_definition(text, "plan.xml").texts
    assert "before the work begins" in texts["P1-before-ai"]
    assert "Review the completed work" in texts["P1-after-ai"]
    for prompt in texts.values():
        assert "workspace_dir: {{ workspace_dir }}" in prompt
        assert "track_dir: {{ track_dir }}" in prompt


def test_c_041_the_agent_of_a_confirm_is_a_reviewer_that_lint_looks_for() -> None:
    text = plan(phase("P1", confirm(AI), confirm(HUMAN), task("T1.1")))
    assert list(parse_definition(text, "plan.xml").reviewers) == ["checker"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_the_order_of_tasks_keeps_every_dependency_and_all_tasks(
    edges: list[tuple[int, int]],
) -> None:
    needs = {n: sorted({a for a, b in edges if b == n and a < n}) for n in range(10)}
    text = plan(
        phase("P1", *(task(f"T1.{n}", needs=", ".join(f"T1.{a}" for a in needs[n])) for n in needs))
    )
    (first,) = read(text).plan.phases
    ordered = [int(each.id[3:]) for each in order_tasks(first)]
    assert ordered == list(range(10)), "in the file everything stands behind what it needs"


def test_a17_a_phase_without_tasks_says_so_to_its_reviewer() -> None:
    texts = parse_definition(plan(phase("P1", confirm(AI))), "plan.xml").texts
    assert "This phase has no tasks." in texts["P1-after-ai"]


def test_d6_dates_and_times_of_any_form_are_left_as_they_are() -> None:
    for time in ("2026-03-01", "2026-03-01T10:00:00Z", "2026-03-01 10:00:00+08:00", "yesterday"):
        about = f"<created_at>{time}</created_at><updated_at>{time}</updated_at></metadata>"
        assert findings(plan(phase("P1", task("T1.1"))).replace("</metadata>", about)) == []


def test_the_goal_of_a_phase_is_told_to_who_reviews_it() -> None:
    text = plan(phase("P1", confirm(AI), "<goal>Nobody waits</goal>", task("T1.1")))
    assert "Nobody waits" in parse_definition(text, "plan.xml").texts["P1-after-ai"]
