"""The folded state of a run with the mark of the user: short commands need not fold a journal."""
