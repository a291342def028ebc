-- What was noticed about two sayings when the later one was written: conflicts and repetitions. Gone with either memory.
-- `body` is JSON: confidence, reason, when it was decided, and of a repetition the saying that was not kept beside.
CREATE TABLE findings (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    other_id TEXT,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_by_status ON findings (status, at);
CREATE INDEX findings_by_memory ON findings (memory_id);
CREATE INDEX findings_by_other ON findings (other_id) WHERE other_id IS NOT NULL;
