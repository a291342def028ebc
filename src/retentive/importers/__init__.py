"""Taking memories along from elsewhere: files of other memory layers, notes, and exported conversations.

    from retentive.importers.run import import_from
    import_from(space, "mem0", "memories.json")

Each kind of file has a reader, which knows nothing of stores: it yields items (memories to be) and talks (conversations
to be observed). `run` puts them into a space, once however often it is asked to.
"""
