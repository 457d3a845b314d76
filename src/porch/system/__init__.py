"""Files, processes and clocks: what every room that can fail for outside reasons stands on."""
