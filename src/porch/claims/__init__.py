"""What agents and reviewers said, read so that only what is unmistakable counts."""
