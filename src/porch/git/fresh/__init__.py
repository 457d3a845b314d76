"""A worktree that git has just made: what git noted of its files is true of what lies there."""
