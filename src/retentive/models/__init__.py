"""Model files that are fetched once and verified always: what exists, where it is kept, how it gets there."""
