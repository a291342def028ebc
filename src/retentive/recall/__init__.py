"""The recall pipeline: data in, decisions out. Nothing here writes, reads a clock or knows a database."""
