"""Every command in one table: its words, its help, its module, and whether only people may call it.

Nothing is imported here. The help of a program is printed from these rows alone, and a call loads
the one module that its row names.
"""


class CommandRow:
    """One command. `words` are what one types after the name of the program.

    Of a command that agents may call, a call with one of `people_options` is for people all the
    same: it decides or steers.
    """

    __slots__ = ("for_people", "help", "module", "people_options", "words")

    def __init__(
        self,
        words: str,
        help: str,
        module: str,
        for_people: bool = False,
        people_options: tuple[str, ...] = (),
    ) -> None:
        self.words = words
        self.help = help
        self.module = module
        self.for_people = for_people
        self.people_options = people_options


_AF_DASHBOARD = "porch.cli.af.dashboard"
_AF_KICKOFF = "porch.cli.af.kickoff"
_AF_RUNS = "porch.cli.af.runs"
_AF_STATUS = "porch.cli.af.status"
_AGENTS = "porch.cli.porch.agents"
_ASK = "porch.cli.porch.ask"
_CLEANUP = "porch.cli.envoy.debug_cleanup"
_COMPLETION = "porch.cli.codev.completion"
_DECIDING = "porch.cli.porch.decide"
_DOCTOR = "porch.cli.codev.doctor"
_ENVOY = "porch.cli.envoy.protocol"
_ENVOY_GIT = "porch.cli.envoy.git"
_FINISHING = "porch.cli.porch.finish"
_KNOWLEDGE = "porch.cli.envoy.knowledge"
_LOG = "porch.cli.porch.log"
_MCP = "porch.cli.porch.mcp"
_MIGRATE = "porch.cli.codev.migrate"
_PLAN = "porch.cli.envoy.plan"
_PLAN_FINDINGS = "porch.cli.envoy.plan_findings"
_PLAN_GATES = "porch.cli.envoy.plan_gates"
_PROTOCOLS = "porch.cli.porch.protocols"
_REMOVE = "porch.cli.codev.remove"
_SETUP = "porch.cli.codev.setup"
_RUNNING = "porch.cli.porch.run"
_SHOWING = "porch.cli.porch.show"
_STEERING = "porch.cli.porch.steer"
_TRACKS = "porch.cli.porch.tracks"
_TRUST = "porch.cli.porch.trust"
_WAIT = "porch.cli.porch.wait"
# A script can decide; a status file brings approvals along; taking over steers somebody's run; what
# is trusted may start programs.
_DRIVE_DECISIONS = ("script", "adopt", "take_over", "trust")
# It sets aside what a person has to see, or has said: a test, a choice, a plan that was accepted.
_RULES_SET_ASIDE = ("force",)
# It lets specialists run commands unasked, trusts settings, or gives agents more tools.
_SETUP_DECISIONS = ("yes", "mcp", "with")
# It counts approvals that nobody here gave, or removes worktrees.
_MIGRATE_DECISIONS = ("adopt", "clean")
# Agents ask; only people answer.
_ASK_DECISIONS = ("reply",)
# With answers of one's own a review would pass that nobody gave.
_REVIEW_DECISIONS = ("script", *_RULES_SET_ASIDE)

PORCH = (
    CommandRow(
        "run",
        "start a run of a protocol, or continue it",
        _RUNNING,
        people_options=_DRIVE_DECISIONS,
    ),
    CommandRow("resume", "continue a run", _RUNNING, people_options=_DRIVE_DECISIONS),
    CommandRow("status", "show the status of one run or of all runs", _SHOWING),
    CommandRow("pending", "list the decisions that wait for you, oldest first", _SHOWING),
    CommandRow("wait", "wait for the next decision, or until a run has ended", _WAIT),
    CommandRow("log", "show what happened in a run", _LOG),
    CommandRow("explain", "explain what a run is waiting for, and why", _SHOWING),
    CommandRow("settings", "show the settings used here, and where each comes from", _SHOWING),
    CommandRow(
        "trust",
        "trust settings that start programs or let programs see more",
        _TRUST,
        for_people=True,
    ),
    CommandRow(
        "approve",
        "approve a gate, with its files as porch asked about them",
        _DECIDING,
        for_people=True,
    ),
    CommandRow("reject", "reject a gate; the agent gets your reason", _DECIDING, for_people=True),
    CommandRow(
        "answer",
        "answer an agent's question, or choose an option of a decision",
        _DECIDING,
        for_people=True,
    ),
    CommandRow(
        "ask",
        "ask a person the questions of a file, and read the reply",
        _ASK,
        people_options=_ASK_DECISIONS,
    ),
    CommandRow("retry", "try the failed step again", _DECIDING, for_people=True),
    CommandRow("skip", "skip the failed step", _DECIDING, for_people=True),
    CommandRow("cancel", "waive a confirmation, or give a task up", _TRACKS, for_people=True),
    CommandRow("reopen", "take back that something in a track is done", _TRACKS, for_people=True),
    CommandRow("ask-again", "ask a halted confirmation once more", _TRACKS, for_people=True),
    CommandRow("stop", "stop the agents of a run; nothing is lost", _STEERING, for_people=True),
    CommandRow(
        "rollback",
        "go back to PHASE; discards later results and approvals",
        _STEERING,
        for_people=True,
    ),
    CommandRow("replan", "read the plan file again", _STEERING, for_people=True),
    CommandRow(
        "upgrade",
        "use the current version of the protocol files in a run",
        _STEERING,
        for_people=True,
    ),
    CommandRow(
        "repair",
        "repair a damaged journal; keeps all records before the damage",
        _STEERING,
        for_people=True,
    ),
    CommandRow(
        "finish",
        "merge the work of a run that has ended, open a pull request, or keep it",
        _FINISHING,
        for_people=True,
    ),
    CommandRow("next", "show what to do now, with the whole prompt", _STEERING),
    CommandRow(
        "done", "report that an agent's work is done; checks and reviews start at once", _STEERING
    ),
    CommandRow(
        "check", "run the checks of the current phase; changes nothing in the run", _STEERING
    ),
    CommandRow("mcp", "serve commands to agents as MCP tools, on standard input and output", _MCP),
    CommandRow("plan show", "show the plan of a track, with what has been done", _TRACKS),
    CommandRow("plan lint", "check the plan of a track and list all problems", _TRACKS),
    CommandRow(
        "plan repair",
        "show how a plan that is no XML can be repaired",
        _TRACKS,
        people_options=("write",),
    ),
    CommandRow("plan archive", "put a finished track away", _TRACKS, for_people=True),
    CommandRow("protocols list", "list the protocols that you can run here", _PROTOCOLS),
    CommandRow("protocols show", "show the phases, gates and checks of a protocol", _PROTOCOLS),
    CommandRow(
        "protocols graph",
        "draw a protocol: states, exits, limits, ways back",
        _PROTOCOLS,
    ),
    CommandRow(
        "protocols copy",
        "copy a packaged protocol into the project, to read it there or to change it",
        _PROTOCOLS,
    ),
    CommandRow("protocols lint", "check protocol files and list all problems", _PROTOCOLS),
    CommandRow(
        "protocols schema", "print the JSON Schema of protocol files, for editors", _PROTOCOLS
    ),
    CommandRow("plan phases", "show the phases that porch finds in a plan", _PROTOCOLS),
    CommandRow(
        "demo", "run a whole project in a temporary repository, with the scripted agent", _PROTOCOLS
    ),
    CommandRow("agents list", "list the known agents and what they are used for", _AGENTS),
    CommandRow("agents test", "test an agent in a temporary repository; uses real tokens", _AGENTS),
)
CODEV = (
    CommandRow("init", "set up a new project", _SETUP, people_options=_SETUP_DECISIONS),
    CommandRow("adopt", "set up an existing project", _SETUP, people_options=_SETUP_DECISIONS),
    CommandRow(
        "remove",
        "take back what init, adopt and `porch protocols copy` wrote here, if nobody changed it",
        _REMOVE,
        for_people=True,
    ),
    CommandRow(
        "migrate",
        "convert a project with the old directory layout",
        _MIGRATE,
        people_options=_MIGRATE_DECISIONS,
    ),
    CommandRow("doctor", "check whether porch can run here, and what is missing", _DOCTOR),
    CommandRow("completion", "print the script that completes commands in a shell", _COMPLETION),
)
ENVOY = (
    CommandRow("protocol", "show the steps of a protocol, with its inputs and outputs", _ENVOY),
    CommandRow("plan protocol", "the same as `envoy protocol`", _ENVOY),
    CommandRow("plan init", "create the plan directory for this branch", _PLAN),
    CommandRow("plan status", "show whether this branch has a plan", _PLAN),
    CommandRow("plan check", "show what you need to know before you continue the plan", _PLAN),
    CommandRow("plan write-plan", "write the text of the plan", _PLAN),
    CommandRow("plan get-full-plan", "show the whole plan", _PLAN),
    CommandRow("plan append-user-input", "save what the user said", _PLAN),
    CommandRow(
        "plan write-prompt",
        "write a prompt, or a new version of it",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow("plan read-prompt", "show a whole prompt", _PLAN),
    CommandRow(
        "plan clear-prompt", "remove a prompt from the plan", _PLAN, people_options=_RULES_SET_ASIDE
    ),
    CommandRow(
        "plan validate-dependencies", "find outdated, missing and circular dependencies", _PLAN
    ),
    CommandRow(
        "plan update-prompt-dependencies",
        "set what a prompt depends on",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow("plan audit", "list what to check in the plan before it is accepted", _PLAN),
    CommandRow("plan next", "show the prompts that can be started now", _PLAN),
    CommandRow(
        "plan start-prompt", "start work on a prompt", _PLAN, people_options=_RULES_SET_ASIDE
    ),
    CommandRow(
        "plan worktree",
        "claim a prompt and make its worktree, set up as [worktree] says",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan record-implementation",
        "record what was done for a prompt",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan complete-prompt", "mark a prompt as done", _PLAN, people_options=_RULES_SET_ASIDE
    ),
    CommandRow(
        "plan verify-prompt", "verify a claim about a prompt; exit 1 if it is not true", _PLAN
    ),
    CommandRow(
        "plan release-all-prompts",
        "release the prompts of workers that are gone",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan release-prompt",
        "give back a prompt that could not be finished",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow("plan get-prompt-walkthrough", "show what was done for a prompt", _PLAN),
    CommandRow(
        "plan get-all-walkthroughs", "show what was done for all prompts not yet documented", _PLAN
    ),
    CommandRow("plan mark-prompt-extracted", "mark a prompt as documented", _PLAN),
    CommandRow("plan mark-all-documented", "mark all merged prompts as documented", _PLAN),
    CommandRow(
        "git merge-worktree",
        "merge a prompt into its feature branch",
        _PLAN,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan complete", "finish the plan, with a summary", _PLAN, people_options=_RULES_SET_ASIDE
    ),
    CommandRow(
        "plan write-finding",
        "write all findings of a specialist; replaces older ones",
        _PLAN_FINDINGS,
    ),
    CommandRow("plan write-notes", "write notes for all approaches", _PLAN_FINDINGS),
    CommandRow("plan write-approach", "write or replace one approach", _PLAN_FINDINGS),
    CommandRow(
        "plan clear-approach", "remove an approach, or all variants of a number", _PLAN_FINDINGS
    ),
    CommandRow("plan get-finding-approach", "show one approach, or its variants", _PLAN_FINDINGS),
    CommandRow("plan get-findings", "show the approaches of all specialists", _PLAN_FINDINGS),
    CommandRow("plan read-design-manifest", "show the screenshots of the plan", _PLAN_FINDINGS),
    CommandRow(
        "plan block-findings-gate", "wait until a person has checked the findings", _PLAN_GATES
    ),
    CommandRow("plan block-plan-gate", "wait until a person has accepted the plan", _PLAN_GATES),
    CommandRow(
        "plan block-prompt-testing-gate",
        "wait until a person has tested the prompt",
        _PLAN_GATES,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan block-prompt-variants-gate",
        "wait until a person has chosen a variant",
        _PLAN_GATES,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "plan block-debugging-logging-gate",
        "wait for the logs of a bug",
        _PLAN_GATES,
        people_options=_RULES_SET_ASIDE,
    ),
    CommandRow(
        "gate answer",
        "answer a gate of this branch's plan",
        _PLAN_GATES,
        for_people=True,
    ),
    CommandRow(
        "review",
        "review a prompt or the whole plan",
        _PLAN_GATES,
        people_options=_REVIEW_DECISIONS,
    ),
    CommandRow(
        "claude review",
        "the same; by claude where the settings name nobody",
        _PLAN_GATES,
        people_options=_REVIEW_DECISIONS,
    ),
    CommandRow(
        "codex review",
        "the same; by codex where the settings name nobody",
        _PLAN_GATES,
        people_options=_REVIEW_DECISIONS,
    ),
    CommandRow(
        "gemini review",
        "the same; by gemini where the settings name nobody",
        _PLAN_GATES,
        people_options=_REVIEW_DECISIONS,
    ),
    CommandRow(
        "oracle review",
        "the same; by the given provider where the settings name nobody",
        _PLAN_GATES,
        people_options=_REVIEW_DECISIONS,
    ),
    CommandRow("git get-base-branch", "show the base branch: the one to merge into", _ENVOY_GIT),
    CommandRow(
        "git is-base-branch", "show whether the current branch is the base branch", _ENVOY_GIT
    ),
    CommandRow(
        "git diff-base",
        "show all differences from the base branch, including uncommitted and new files",
        _ENVOY_GIT,
    ),
    CommandRow("git checkout-base", "switch to the base branch", _ENVOY_GIT),
    CommandRow(
        "git create-pr",
        "push this branch and open a pull request with gh, if none is open",
        _ENVOY_GIT,
    ),
    CommandRow(
        "git cleanup-worktrees",
        "remove the worktrees of prompts that are merged into their feature branch",
        _ENVOY_GIT,
    ),
    CommandRow("knowledge search", "search the documents", _KNOWLEDGE),
    CommandRow("knowledge reindex", "build the index again", _KNOWLEDGE),
    CommandRow("knowledge reindex-all", "the same as `reindex`", _KNOWLEDGE),
    CommandRow("knowledge reindex-from-changes", "index only the given files", _KNOWLEDGE),
    CommandRow(
        "knowledge status", "show what is in the index, and whether it is outdated", _KNOWLEDGE
    ),
    CommandRow(
        "plan cleanup-debug-logs",
        "remove every block that begins with a [DEBUG-TEMP] comment",
        _CLEANUP,
    ),
)
AF = (
    CommandRow(
        "kickoff",
        "start a run in a worktree of its own; a process in the background drives it",
        _AF_KICKOFF,
        for_people=True,
    ),
    CommandRow("status", "show all runs, or one run as a checklist", _AF_STATUS),
    CommandRow("wait", "wait for the next decision, or until a run has ended", _WAIT),
    CommandRow(
        "dashboard",
        "open pages in your browser that show what waits for you, and take your answers",
        _AF_DASHBOARD,
        for_people=True,
    ),
    CommandRow("approve", "approve a gate; the run goes on by itself", _AF_RUNS, for_people=True),
    CommandRow(
        "reject", "reject a gate with your reason; the run goes on", _AF_RUNS, for_people=True
    ),
    CommandRow("stop", "stop a run and its driver; the worktree stays", _AF_RUNS, for_people=True),
    CommandRow("resume", "go on with a run in the background", _AF_RUNS, for_people=True),
    CommandRow(
        "finish",
        "merge the work of a run that has ended, open a pull request, or keep it",
        _FINISHING,
        for_people=True,
    ),
    CommandRow(
        "cleanup",
        "remove the worktree of a run that is over; everything in it is kept first",
        _AF_RUNS,
        for_people=True,
    ),
    CommandRow("logs", "show what the driver of a run printed", _AF_RUNS),
    CommandRow("open", "print the path of a run's worktree", _AF_RUNS),
)

PROGRAMS = {"porch": PORCH, "af": AF, "codev": CODEV, "envoy": ENVOY}
