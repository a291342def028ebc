"""A knowledge graph kept as memories: entities, what was observed of them, and relations between them.

It is the model of the official MCP memory server (entities with observations, directed relations), so that its clients
and its files can be served from a space, and everything in it can be recalled like any other memory.
"""
