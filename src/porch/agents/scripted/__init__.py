"""The agent of scripts. Empty: its process starts for every turn and loads only what it needs."""
