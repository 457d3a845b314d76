"""What is proved of a whole graph: inputs are there, fields are read, children give their part."""
