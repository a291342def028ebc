"""Adaptive weights: bounded steps learnt from feedback and from near misses, pulled back toward the policy they bend.

The idea is ARC's (Megiddo and Modha, 2003): remember for a while what was just cut, and let a cut that proves wrong
shift the balance. `decide` is pure arithmetic, `book` keeps it with the space.
"""
