"""The loop of a run: queue, driver, journal and pictures under one lock, wishes from others."""
