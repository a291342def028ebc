"""The inspector: pages that show why a memory came up, served beside the interface that they ask.

The pages are plain files: no build, nothing from elsewhere. They ask the same operations as every other caller, with
the caller's own key; what they ask beside those is in `board`.
"""
