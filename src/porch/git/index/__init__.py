"""The index of a worktree as git writes it: what it says of files, read without asking git."""
