"""A tree of instances at work: their worktrees, suites, answers and branches."""
