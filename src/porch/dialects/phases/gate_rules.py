"""Gates that do not hold what they seem to: invented words, one name for two."""

from collections.abc import Iterator

from porch.dialects.phases.compiler.signal_exits import gate_name, required_gate_words
from porch.dialects.phases.compiler.stages import PANEL_STEPS, PhaseLayout
from porch.dialects.phases.compiler.targets import PhaseLookup
from porch.dialects.phases.file_records import PhasesFile
from porch.errors import Finding
from porch.text.nodes import ScalarNode

_NEAR = 0.85
_DECLARE = "declare it in 'signals', add a check of this name, or remove it"


def find_gate_findings(definition: PhasesFile, atlas: PhaseLookup) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for layout in atlas.layouts.values():
        gate, name = layout.phase.gate, gate_name(layout)
        if gate is None:
            continue
        if name in seen:
            message = (
                f"the gates of '{seen[name]}' and '{layout.phase.id}' are both called '{name}'"
            )
            fix = "give each gate a name of its own: people approve by this name"
            yield Finding("duplicate-name", message, gate.place, fix)
        seen.setdefault(name, layout.phase.id)
        yield from _invented_word_findings(layout, definition)


def _invented_word_findings(layout: PhaseLayout, definition: PhasesFile) -> Iterator[Finding]:
    declared = {s.name for s in (*layout.phase.signals, *definition.signals)}
    invented = [word for word in required_gate_words(layout) if word not in declared]
    for word in layout.phase.gate.requires if layout.phase.gate else ():
        if word.text in invented:
            yield _invented_word_finding(word, layout, _known_words(layout, declared))


def _known_words(layout: PhaseLayout, signals: set[str]) -> list[str]:
    phase = layout.phase
    checks = [*phase.checks, *(phase.verification.checks if phase.verification else ())]
    names = [stage.name for stage in layout.stages if stage.name]
    panel = PANEL_STEPS if phase.consultation else ()
    return [*names, *(check.command.name for check in checks), *panel, *sorted(signals)]


def _invented_word_finding(word: ScalarNode, layout: PhaseLayout, known: list[str]) -> Finding:
    near = _find_near_word(word.text, known)
    message = (
        f"the gate '{gate_name(layout)}' requires '{word.text[:80]}', which is not a step, signal, "
        f"check or review of '{layout.phase.id}'"
    )
    fix = f"did you mean '{near}'?" if near else _DECLARE
    return Finding("unknown-step", message, word.place, fix)


def _find_near_word(word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    plain = {_plain(each): each for each in known}
    near = get_close_matches(_plain(word), list(plain), n=1, cutoff=_NEAR)
    # Two letters that changed places make a short word look quite different.
    near += [each for each in plain if sorted(each) == sorted(_plain(word))]
    return plain[near[0]] if near else ""


def _plain(word: str) -> str:
    return word[:100].lower().replace("-", "_")
