"""Objects of git that lie in files of their own, as each does while it is new."""
