"""Conflicts and repetitions: what is noticed about a memory when it is written, and what becomes of it.

``decide`` reads two texts and says whether the later denies the earlier, ``find`` looks for the memories worth reading,
``apply`` carries it out in the transaction of the write, ``judging`` asks a model. What people do about it:
`retentive.review`.
"""
