"""Which checks must pass on the merged files, and what is left out with which reason."""

from porch.model import protocol as p
from porch.model.delivery_checks import find_reason_left_out, list_delivery_checks


def protocol_with(*commands: p.Command) -> p.Protocol:
    states = {
        f"check{number}": p.State(f"check{number}", f"phase{number}", p.Check((command,)))
        for number, command in enumerate(commands)
    }
    return p.Protocol("p", p.Target("check0"), states, ())


def test_two_checks_of_one_name_with_other_commands_are_two() -> None:
    protocol = protocol_with(p.Command("unit", "make one"), p.Command("unit", "make two"))
    assert [each.name for each in list_delivery_checks(protocol, {}, [])] == ["unit", "unit-2"]


def test_a_command_of_the_settings_that_is_empty_is_no_check() -> None:
    protocol = protocol_with(p.Command("unit", "make one"))
    checks = list_delivery_checks(protocol, {"lint": "", "test": "make test"}, [])
    assert [each.name for each in checks] == ["test", "unit"]


def test_the_form_of_documents_counts_where_an_agent_of_the_run_worked_on_them() -> None:
    form = p.Command("sections", "grep -q Risks plan.md", about="form")
    assert form.depends_on_files_alone
    [due] = list_delivery_checks(protocol_with(form), {}, ["phase0"])
    assert due.reason_left_out == ""
    [left_out] = list_delivery_checks(protocol_with(form), {}, [])
    assert left_out.reason_left_out == "about documents that were there before the run"


def test_a_check_without_a_command_is_left_out_and_says_so() -> None:
    assert find_reason_left_out(p.Command("unit")) == "has no command"
    assert find_reason_left_out(p.Command("unit", setting="test")) == "[commands] test is not set"
