"""Upkeep: what is done to a space between conversations."""
