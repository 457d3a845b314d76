"""Which checks must pass on the merged files: one rule for every kind of run.

Every command that `[commands]` sets must pass, and every required check of the protocol, each
command line once. What says nothing about the merged files is left out, with the reason.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.model.protocol import Check, Command, Protocol

_OF_ONE_ITEM = "PLAN_PHASE_ID"


class DeliveryCheck(Struct, frozen=True):
    """One command line, where it is written, and why it does not run on the merged files."""

    name: str
    command: Command
    origin: str
    reason_left_out: str = ""
    is_declared: bool = False  # by a protocol

    def describe(self) -> str:
        return f"{self.name} ({self.reason_left_out})" if self.reason_left_out else self.name


def list_delivery_checks(
    protocol: Protocol, settings: Mapping[str, str], worked: Collection[str]
) -> tuple[DeliveryCheck, ...]:
    """All checks of a run; `settings` are the commands of the project by name.

    `worked` are the phases in which an agent of the run has worked.
    """
    checks: dict[tuple[str, str], DeliveryCheck] = {}
    for check in (*_list_protocol_checks(protocol, settings, worked), *_list_settings(settings)):
        line = (check.command.shell.strip() or check.name, check.command.cwd)
        known = checks.get(line)
        if known is None or (known.reason_left_out and _must_replace(known, check)):
            checks[line] = check
    order = {name: number for number, name in enumerate(settings)}
    rows = sorted(checks.values(), key=lambda check: order.get(check.name, len(order)))
    return tuple(_name_apart(rows))


def _must_replace(known: DeliveryCheck, check: DeliveryCheck) -> bool:
    """A check that is required anywhere is required; one about the outside never becomes one."""
    return not check.reason_left_out and known.command.about != "outside"


def _list_protocol_checks(
    protocol: Protocol, settings: Mapping[str, str], worked: Collection[str]
) -> Iterator[DeliveryCheck]:
    for state in protocol.states.values():
        for command in state.actor.commands if isinstance(state.actor, Check) else ():
            text = command.shell or settings.get(command.setting, "")
            full = replace(command, shell=text)
            name = command.setting or command.name
            reason = find_reason_left_out(full)
            if command.about == "form" and state.group not in worked:
                reason = "about documents that were there before the run"
            origin = f"check '{command.name}' of {state.group}"
            yield DeliveryCheck(name, full, origin, reason, is_declared=True)


def _list_settings(settings: Mapping[str, str]) -> Iterator[DeliveryCheck]:
    """Also what no check of the protocol names."""
    for name, text in settings.items():
        if text:
            command = Command(name, text, setting=name)
            yield DeliveryCheck(name, command, f"[commands] {name}", find_reason_left_out(command))


def find_reason_left_out(command: Command) -> str:
    """Why a check is not run again on finished work; empty if it is."""
    is_set = bool(command.setting and command.shell)
    if command.about == "outside":
        return "not about files: about: outside"
    if command.files:
        return "looks for the documents of one phase"
    if command.protects or command.changed or command.net_lines_below:
        return "compares with the files the run began with"
    if _OF_ONE_ITEM in command.shell:
        return "about one plan phase: $PLAN_PHASE_ID"
    if command.optional and not is_set:
        return "optional"
    if command.once and not is_set:
        return "counts only at its moment: once"
    if not command.shell and not command.setting:
        return "has no command"
    return "" if command.shell else f"[commands] {command.setting} is not set"


def _name_apart(checks: Sequence[DeliveryCheck]) -> Iterator[DeliveryCheck]:
    """Two phases may mean different things by one name."""
    names: set[str] = set()
    for check in checks:
        name, number = check.name, 2
        while name in names:
            name, number = f"{check.name}-{number}", number + 1
        names.add(name)
        yield replace(check, name=name)
