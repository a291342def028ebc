"""For users' own tests: the store contract, strategies, and fakes for embedders and language models."""
