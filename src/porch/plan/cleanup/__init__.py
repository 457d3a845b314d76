"""Temporary debug lines: found in a worktree and taken out of it."""
