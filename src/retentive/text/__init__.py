"""Reading text without a model: terms, names, clauses, times, sentences and token counts. Pure, no clock, no I/O."""
