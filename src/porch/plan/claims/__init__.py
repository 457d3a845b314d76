"""Who works on a prompt, and in which worktree."""
