"""The embedded store: one SQLite database per space."""
