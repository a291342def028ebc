"""Reflection (policy.md §7): from what was remembered lately to what it adds up to, with the evidence named."""
