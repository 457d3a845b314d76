"""The table of turns: one line each, numbers first."""

from porch.cli.porch.log_output import render_turns

TURN = {
    "number": 1,
    "position": "write#1",
    "agent": "claude",
    "outcome": "not ended",
    "began_at": "2026-01-02T03:04:05.678Z",
    "seconds": None,
    "usd": 0.0,
    "tokens": 0,
    "parts": 0,
}


def test_a_run_that_asked_nobody_has_no_turns() -> None:
    assert render_turns([]) == "No agent has worked in this run yet.\n"


def test_columns_line_up_and_what_is_not_known_is_a_dash() -> None:
    more = {"number": 2, "seconds": 61.26, "tokens": 1500, "parts": 3, "outcome": "a\x1b[1m\nb"}
    assert render_turns([TURN, {**TURN, **more}]).splitlines() == [
        "TURN         POSITION  AGENT   OUTCOME    BEGAN                 TOOK    COST",
        "1            write#1   claude  not ended  2026-01-02 03:04:05Z  -       -",
        "2 (3 parts)  write#1   claude  a [1m b    2026-01-02 03:04:05Z  61.3 s  1,500 tokens",
    ]
