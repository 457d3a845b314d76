"""The tree of instances outside the machine: their worktrees, suites, answers and branches."""
