"""A run at rest: journal, lock, inbox, payloads, pictures, and where they lie."""
