"""The files in which people answer the gates of a plan."""
