"""The driver: starts what is wanted, stops what is not, and journals before it acts."""
