"""Everything that can fail for outside reasons: files, processes, git, agents."""
