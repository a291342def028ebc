"""The scoring core: pure functions from float64 arrays to float64 arrays, with every age an argument.

    decay        what recency is left at an age            normalise   a raw column made comparable
    freshness    the multiplicative family, by kind        combine     columns to one score
    importance   its decay, and feedback                   fusion      channels to one score
    counts       their decay, and frequency                diversity   choosing without repeating
    recurrence   days to the nearest birthday

No clock, no I/O, nothing of the rest of the package. Nothing here is imported by name from this module; take the
functions from the module that says what they are.
"""
