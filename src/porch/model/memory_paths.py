"""Under which paths things are remembered that are no exits of a state."""

_SAID = "said."
_EVIDENCE = "evidence."
_SETTLED = "settled."


def evidence_path(group: str, check: str) -> str:
    """Where the content on which a check last passed is remembered."""
    return f"{_EVIDENCE}{group}:{check}"


def is_evidence_path(path: str) -> bool:
    return path.startswith(_EVIDENCE)


def last_words_path(state: str) -> str:
    """Where the last words of an agent are remembered, for whoever judges its work again."""
    return f"{_SAID}{state}"


def is_last_words_path(path: str) -> bool:
    return path.startswith(_SAID)


def settled_path(state: str) -> str:
    """Where it is remembered that a state has its exit before anybody enters it."""
    return f"{_SETTLED}{state}"


def memory_key(path: str) -> str:
    """The remembered exit that a path begins with; what follows leads into its payload."""
    return ".".join(path.split(".")[:2])


# What the engine asks of beside a git state, where its merge clashes with the target.
CLASH_QUESTION = "clash"
# And beside a state that works, where something is wrong that only a person can fix.
FAULT_QUESTION = "fault"
# And beside a git state, where commits on which the work stands were removed from its target.
REMOVED_QUESTION = "removed"
QUESTIONS = (CLASH_QUESTION, FAULT_QUESTION, REMOVED_QUESTION)
# In states of these names the engine asks about a whole run, so no phase and no state of a
# protocol may have them: nobody could be asked then.
RUN_QUESTIONS = ("budget", "changed", "target_branch")
# By this field the exit that such a state takes is told from others of the same name.
FAULT = "fault"


# In an exit with which checks failed: those of them that have passed nowhere before.
NEVER_PASSED = "never_passed"


def name_question_state(state: str, word: str) -> str:
    """The state in which the engine asks a person about another state."""
    return f"{state}:{word}"
