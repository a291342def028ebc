"""Where memories are kept: the protocol, the reference in memory, and SQLite."""
