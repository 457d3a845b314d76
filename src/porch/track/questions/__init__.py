"""Questions outside of a run: asked once, answered by a person, kept in a run of their own."""
