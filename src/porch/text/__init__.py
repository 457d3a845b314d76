"""Files that people write, read with their places: JSON, YAML, XML and Markdown."""
