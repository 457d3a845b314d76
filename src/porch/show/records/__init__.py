"""What the records of a journal say: lines of a log, and work in time."""
