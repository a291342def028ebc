"""Cross-encoders that can sit behind ``Retentive(reranker=...)``; each needs an extra of its own."""
