"""The plans of envoy as pages: all of them, and one as a board."""

from typing import Any

from starlette.responses import Response

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.files.plan_location import list_plan_names, plan_of_run
from porch.plan.files.plan_snapshot import PlanSnapshot, read_plan
from porch.run.verbs.read_run import read_run
from porch.store.where import ProjectPaths
from porch.web.pages import plan_board
from porch.web.pages.windows import cut_pages, read_number
from porch.web.server.call import Call, NoSuchPage

PLANS_ON_PAGE = 25
_MOST_WORDS = 400


def show_plans(call: Call) -> Response:
    """Of all projects; only the plans of one page are read."""
    names = [
        (key, where, name)
        for key, where in call.dashboard.projects.items()
        for name in list_plan_names(where)
    ]
    kept, pager = cut_pages(names, read_number(call.asked("page")), PLANS_ON_PAGE, "/plans")
    rows = [
        {**_read_row(key, where, name), "project": key if call.dashboard.has_several else ""}
        for key, where, name in kept
    ]
    return call.page("plans.html", "Plans", {"rows": rows, "pager": pager, "part": "Plans"})


def _read_row(key: str, where: ProjectPaths, name: str) -> dict[str, Any]:
    """A plan that cannot be read is still listed, with what is wrong."""
    try:
        found = _read(where, name)
    except PorchError as error:
        row = plan_board.make_plan_row(key, name, name, "", {}, 0)
        return {**row, "trouble": error.findings[0].message}
    return plan_board.make_plan_row(
        key, name, found.plan.branch, found.stage, found.prompts, len(found.state.decisions)
    )


def _read(where: ProjectPaths, name: str) -> PlanSnapshot:
    branch = read_run(where, name).state.run.title if where.has_begun(name) else ""
    return read_plan(plan_of_run(where, name, branch))


def show_plan(call: Call) -> Response:
    key, where = call.project()
    name = str(call.request.path_params["name"])
    if name not in list_plan_names(where):
        raise NoSuchPage(f"there is no plan '{name}' in {key}", fix="see the list of plans")
    found = _read(where, name)
    notes = found.notes()
    has_run = where.has_begun(name)
    context = {
        "part": "Plans",
        "project": key if call.dashboard.has_several else "",
        "branch": found.plan.branch,
        "stage": found.stage,
        **plan_board.make_board(
            key,
            name if has_run else "",
            found.prompts,
            _read_words(found, notes),
            found.state,
            call.dashboard.now(),
        ),
        "notes": notes,
    }
    return call.page("plan.html", f"Plan of {found.plan.branch}", context)


def _read_words(found: PlanSnapshot, notes: list[str]) -> dict[PromptId, str]:
    """What each prompt is about; of very many only the first, because each is a file."""
    told = {}
    for id_ in [*found.prompts][:_MOST_WORDS]:
        text = str(found.page_or_note(id_, notes).fields.get("description") or "")
        told[id_] = text.strip().split("\n")[0][:300]
    return told
