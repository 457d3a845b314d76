"""Every page that is shown in a browser. A new page joins all walks and pictures by one line."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownPage:
    """Where it is in the scene, and words that are there when it is whole."""

    name: str
    path: str
    words: str
    status: int = 200


_WAITS = "/run/kitchen/0002-greeter"
_ENDED = "/run/kitchen/bugfix_0001"
PAGES = (
    ShownPage("inbox", "/", "decisions wait for you"),
    ShownPage("run", _WAITS, "Waits for you"),
    ShownPage("decision", f"{_WAITS}/decision?at=specify%3Agate%231", "Your answer"),
    ShownPage(
        "question", "/run/kitchen/bugfix_0003/decision?at=blocked%3Adiagnose%231", "Your answer"
    ),
    ShownPage(
        "failure", "/run/kitchen/bugfix_0004/decision?at=failed%3Adiagnose%231", "Your answer"
    ),
    ShownPage("activity", f"{_WAITS}/activity", "specify"),
    ShownPage("timeline", f"{_WAITS}/timeline", "The same as a list"),
    ShownPage("diff", f"{_WAITS}/diff", "What this run changed"),
    ShownPage("files", f"{_WAITS}/files", "Documents"),
    ShownPage("graph", f"{_WAITS}/graph", "specify:gate"),
    ShownPage("checks", f"{_ENDED}/checks", "passed"),
    ShownPage("reviews", f"{_WAITS}/reviews", "One case is missing"),
    ShownPage("cost", f"{_WAITS}/cost", "specify"),
    ShownPage("journal", f"{_WAITS}/journal", "porch started"),
    ShownPage("protocols", "/protocols", "spider"),
    ShownPage("protocol", "/protocols/kitchen/spider", "specify"),
    ShownPage("plans", "/plans", "Plans"),
    ShownPage("plan", "/plans/kitchen/plan_feat~menu", "Read the recipes"),
    ShownPage("tree", "/run/kitchen/report_tea/tree", "leaves"),
    ShownPage("worktrees", "/worktrees", "spider_0002_greeter"),
    ShownPage("doctor", "/doctor", "the dashboard"),
    ShownPage("keys", "/keys", "the next row of a list"),
    ShownPage("error", "/run/kitchen/0099-none", "That did not work", 404),
)
