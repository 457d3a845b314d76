"""The agents that start `porch mcp`: whether the server would come up for them."""

import os
import shutil
from collections.abc import Iterator

from porch.fleet.setup import mcp_entries
from porch.fleet.setup.mcp_package import find_package_fault
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths


def examine_mcp(where: ProjectPaths) -> Iterator[DoctorLine]:
    """Nothing where no agent is told to start it: the tools are an offer."""
    entries = mcp_entries.list_entries(where.root, mcp_entries.find_codex_home(os.environ))
    if not entries:
        return
    for agent, file in entries:
        yield DoctorLine("ok", f"{agent} gets porch as MCP tools: {file}")
    if fault := find_package_fault():
        yield DoctorLine("warning", fault.findings[0].message, fault.findings[0].fix)
    if shutil.which("porch") is None:
        yield DoctorLine("warning", "`porch` is not on PATH; agents cannot start `porch mcp`",
                         "add the directory in which porch was installed to PATH")  # fmt: skip
