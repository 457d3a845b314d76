"""The dashboard: pages in a browser on this machine, made from what the commands show."""
