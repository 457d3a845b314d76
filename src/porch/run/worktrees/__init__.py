"""One worktree a run: made whole or not at all, known by a small file, removed without a loss."""
