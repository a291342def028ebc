"""Retentive inside other people's frameworks: one module each, none of them imported before it is asked for."""
