"""Gates of a plan: asked once, waited for, answered by a person."""
