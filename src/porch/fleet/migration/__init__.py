"""From the old shape of a project to the one that porch works with, with nothing lost between."""
