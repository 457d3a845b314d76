"""Plans of tracks in a few words, and runs that walk them without files or processes."""

from porch.dialects.plan_xml.compiler import compile_plan, make_protocol
from porch.dialects.plan_xml.file_statuses import list_settled
from porch.dialects.plan_xml.reader import read_track_plan
from porch.dialects.plan_xml.track_plan import TrackReading
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.records import JournalRecord
from porch.machine.track.track_status import TrackStates, find_track_states
from porch.model.protocol import Protocol
from porch.model.validate import validate_protocol
from porch.testing import Rig, Verdict
from porch.text.xml_tree import read_xml

HUMAN, AI, GAP = "yield-human-confirm", "yield-ai-confirm", "yield-gap-loop"


def confirm(
    protocol: str = HUMAN, when: str = "after", status: str = "TODO", more: str = ""
) -> str:
    named = ' ai-agent="checker"' if protocol == AI and "ai-agent" not in more else ""
    return f'<confirm protocol="{protocol}" when="{when}" status="{status}"{named}{more}/>'


def task(id_: str, *inside: str, status: str = "TODO", needs: str = "") -> str:
    after = f"<dependencies>{needs}</dependencies>" if needs else ""
    return (
        f'<task id="{id_}" name="Name of {id_}" status="{status}" priority="P0">'
        f"Do {id_}{after}{''.join(inside)}</task>"
    )


def phase(id_: str, *inside: str) -> str:
    tasks = "".join(each for each in inside if each.startswith("<task"))
    others = "".join(each for each in inside if not each.startswith("<task"))
    return f'<phase id="{id_}" name="Name of {id_}">{others}<tasks>{tasks}</tasks></phase>'


def plan(*phases: str, status: str = "new") -> str:
    about = (
        "<metadata><track_id>login</track_id><track_name>Login</track_name>"
        f"<goal>People can log in</goal><status>{status}</status></metadata>"
    )
    return f"<plan>{about}<phases>{''.join(phases)}</phases></plan>"


def read(text: str) -> TrackReading:
    return read_track_plan(read_xml(text, "tracks/login/plan.xml"))


def compiled(text: str, *, coalesce: bool = False) -> Protocol:
    reading = read(text)
    errors = [found for found in reading.findings if found.severity == "error"]
    assert not errors, errors
    draft = compile_plan(reading.plan, coalesce=coalesce)
    protocol = make_protocol(draft)
    assert validate_protocol(protocol, draft.places) == []
    return protocol


class Walk(Rig):
    """A run of a plan; the test plays agents, reviewers and people."""

    def __init__(self, text: str, *, coalesce: bool = False):
        super().__init__(add_engine_states(compiled(text, coalesce=coalesce)))
        # Whoever plays all agents decides which of them is the quicker one.
        self._room["worktree:"] = 9
        self.tell(
            f.RunStarted(
                run="track_login",
                id="login",
                title="login",
                protocol="codument",
                digest="d0",
                settled=list_settled(read(text).plan),
            )
        )

    @property
    def place(self) -> str:
        """Where the run stands."""
        return ", ".join(self.state.positions)

    @property
    def states(self) -> TrackStates:
        return find_track_states(self.protocol, self.state)

    def task(self, id_: str) -> str:
        return self.states.tasks[id_].status

    def gate(self, name: str) -> str:
        return self.states.gates[name.replace(".", "_")]

    def work(self, **payload: object) -> "Walk":
        self.exit("done", **payload)
        return self

    def answer(self, exit_: str, text: str = "") -> "Walk":
        """What a person says to the question that the run has come to."""
        self.let_go()
        if not self.state.decisions:
            self.asked()
        record = self.decide(exit_, text)
        assert record is not None
        assert isinstance(record.fact, f.WishTaken), record
        return self

    def work_at(self, state: str, **payload: object) -> "Walk":
        """Of several that stand side by side, one has worked."""
        self.let_go()
        hands = self.state.in_hand.values()
        place = f"{state}#{self.state.visits['', state, '']}"
        effect = next(h.effect for h in hands if h.kind == "agent" and h.position == place)
        self.tell(f.ExitAccepted(effect=effect, exit="done", payload=payload, signal="done"))
        return self

    def answer_at(self, state: str, exit_: str, text: str = "") -> "Walk":
        """Of several questions, one is answered."""
        self.let_go()
        place = f"{state}#{self.state.visits['', state, '']}"
        if place not in self.state.decisions:
            hands = self.state.in_hand.values()
            effect = next(h.effect for h in hands if h.kind == "ask" and h.position == place)
            self.tell(f.DecisionAsked(effect=effect, digest=""))
        wish = f.Wish(
            id=f"w{self.state.seq}", kind="decide", position=place, exit=exit_, text=text, who="ada"
        )
        record = self.wish(wish)
        assert record is not None
        assert isinstance(record.fact, f.WishTaken), record
        return self

    def report(self, verdict: Verdict, *findings: str, by: str = "checker") -> "Walk":
        self.tell(
            f.ReviewEnded(
                effect=self.held("review", by),
                verdict=verdict,
                summary="looked",
                findings=findings,
                why="no verdict line" if verdict == "ABSTAIN" else "",
                cause="unreadable" if verdict == "ABSTAIN" else "",
            )
        )
        if any(hand.kind == "feedback" for hand in self.state.in_hand.values()):
            self.tell(f.FeedbackWritten(effect=self.held("feedback"), path="round.md"))
        return self

    def says(self, kind: str, node: str, text: str = "because") -> str:
        """A wish about a node; returns why it was refused, if it was."""
        wish = f.Wish(
            id=f"w{self.state.seq}", kind=kind, text=text, who="ada",
            data={"state": node.replace(".", "_")},
        )  # fmt: skip
        record = self.wish(wish)
        assert record is not None
        return record.fact.reason if isinstance(record.fact, f.WishRefused) else ""

    def asked(self, digest: str = "") -> JournalRecord:
        """Whoever is no longer wanted is stopped first, as a driver does it."""
        self.let_go()
        return super().asked(digest)

    def exit(self, name: str, **payload: object) -> JournalRecord:
        self.let_go()
        return super().exit(name, **payload)
