"""What a run changed: the difference to the files with which it began, and the files themselves."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from porch.fleet.finish.run_changes import RunChanges, compare_run
from porch.git.file_changes import ChangedContent, read_blob, read_patches
from porch.model.artifact_names import CHANGES
from porch.model.protocol import Agent, Human, Panel, Protocol
from porch.run.engine.artifacts import list_artifact_paths
from porch.run.engine.run_places import workspace_of
from porch.system.inner_file import read_inner_file
from porch.web.pages import diff_view, files_view
from porch.web.pages.page_words import run_address
from porch.web.pages.windows import cut_pages, read_number
from porch.web.server.call import LIVE, Call, NoSuchPage
from porch.web.server.parts.run_frame import OpenRun


def show_diff(call: Call) -> Response:
    run = OpenRun(call)
    address = run_address(run.project, run.name, "diff")
    changes = _compare(call, run)
    key = call.asked("file")
    told = (
        _show_one(changes, key, read_number(call.asked("page")), address)
        if key and not changes.trouble and not call.request.headers.get(LIVE)
        else _show_all(changes, read_number(call.asked("page")), address)
    )
    context = {
        **run.frame(run.picture(), "diff"),
        **told,
        "base": run.state.run.base[:12],
        "told": changes.told,
        "trouble": changes.trouble,
        "address_all": address,
        **diff_view.describe_total(changes.files),
    }
    return call.page("diff.html", f"Diff of {context['id']}", context)


def _compare(call: Call, run: OpenRun) -> RunChanges:
    """An open page that fetches itself wants its head: measuring all files is not for free."""
    if call.request.headers.get(LIVE):
        return RunChanges(trouble="loading")
    return compare_run(run.where, run.state)


def _show_all(changes: RunChanges, page: int, address: str) -> dict[str, Any]:
    files, pager = cut_pages(changes.files, page, diff_view.FILES_ON_PAGE, address)
    patches = _read_patches(changes, [each for each in files if diff_view.is_shown_beside(each)])
    return {"shown": diff_view.make_files(files, patches, address), "pager": pager, "one": False}


def _show_one(changes: RunChanges, key: str, page: int, address: str) -> dict[str, Any]:
    file = _find_file(changes.files, key)
    is_shown = diff_view.is_text(file) and file.size <= diff_view.LARGEST_ALONE
    patch = _read_patches(changes, [file]).get(file.path) if is_shown else None
    lines = [*diff_view.number_lines(patch or "")]
    size = diff_view.LINES_ON_PAGE
    _, pager = cut_pages(lines, page, size, address, file=key)
    shown = diff_view.make_file(file, patch, address, max(pager["begin"] - 1, 0))
    return {"shown": [{**shown, "is_alone": False}], "pager": pager, "one": True}


def _read_patches(changes: RunChanges, files: Sequence[ChangedContent]) -> dict[str, str]:
    return read_patches(changes.place, changes.old, changes.new, files)


def _find_file(files: Sequence[ChangedContent], key: str) -> ChangedContent:
    """By what the list says: an address names no path, so it cannot name a wrong one."""
    for each in files:
        if diff_view.make_file_key(each.path) == key:
            return each
    raise NoSuchPage("this file is not one of those that the run changed", fix="see the list")


def show_files(call: Call) -> Response:
    run = OpenRun(call)
    address = run_address(run.project, run.name, "files")
    changes = _compare(call, run)
    documents = dict(_list_documents(run))
    opened = _open_file(call, run, changes, documents)
    kept, pager = cut_pages(
        changes.files, read_number(call.asked("page")), files_view.FILES_ON_PAGE, address
    )
    context = {
        **run.frame(run.picture(), "files"),
        "opened": opened,
        "documents": files_view.make_documents(documents, address),
        "changed": files_view.make_changed(kept, address),
        "pager": pager,
        "trouble": changes.trouble,
        "told": changes.told,
        "address_all": address,
    }
    return call.page("files.html", f"Files of {context['id']}", context)


def _list_documents(run: OpenRun) -> Iterator[tuple[str, int | None]]:
    """What the protocol calls its files, each with its size if it is there."""
    workspace = workspace_of(run.where, run.state)
    for path in list_artifact_paths(workspace, run.state.run, _list_artifacts(run.protocol)):
        found = read_inner_file(workspace, path, 0)
        yield path, found.size if found else None


def _list_artifacts(protocol: Protocol) -> list[str]:
    named = [
        name
        for state in protocol.states.values()
        if isinstance(state.actor, (Agent, Panel, Human))
        for name in state.actor.artifacts
        if name != CHANGES
    ]
    return list(dict.fromkeys(named))


def _open_file(
    call: Call, run: OpenRun, changes: RunChanges, documents: Mapping[str, int | None]
) -> dict[str, Any] | None:
    if call.request.headers.get(LIVE):
        return None
    if key := call.asked("document"):
        return _open_document(run, list(documents), key)
    if key := call.asked("changed"):
        file = _find_file(changes.files, key)
        is_small = bool(file.new) and file.new_size <= files_view.LARGEST
        data = read_blob(changes.place, file.new) if is_small and not file.is_repository else None
        return files_view.make_opened(file.path, data, file.new_size, file.is_link)
    return None


def _open_document(run: OpenRun, paths: Sequence[str], key: str) -> dict[str, Any]:
    for path in paths:
        if diff_view.make_file_key(path) == key:
            workspace = workspace_of(run.where, run.state)
            found = read_inner_file(workspace, path, files_view.LARGEST)
            if found is not None:
                return files_view.make_opened(path, found.data, found.size)
    raise NoSuchPage("there is no such document of this run", fix="see the list of its files")
