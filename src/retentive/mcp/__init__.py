"""Memories as tools and resources of the Model Context Protocol, by the official SDK (extra `mcp`).

`toolbox` says what a tool is, `reading` and `upkeep` and `graph_tools` are the tools, `app` puts them behind the
protocol, `stdio` and `http` are the ways to reach it. Only `app` and what stands above it import the SDK.

The space is no argument of anything here: an `Access` names it, and an access is made from the configuration or from a
key, before a model has said a word.
"""
