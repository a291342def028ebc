"""Other memory layers' interfaces over Retentive, so that an agent changes over by an import."""
