-- The few memories that were derived from others: who leans on a memory is asked before it is pruned or erased.
CREATE INDEX memories_derived ON memories (row) WHERE derived_from <> '[]';
