"""Documents of a project, kept so that a phrase finds them: full text, and meaning where it is."""
