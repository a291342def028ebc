-- The queue: work that waits to be done, its retries, and what failed for good. Done jobs are removed.
-- AUTOINCREMENT gives the order in which jobs were first put. `due_at`: when to begin; of a running job, when its lease
-- ends.
CREATE TABLE jobs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease TEXT NOT NULL,
    memories TEXT NOT NULL,
    error TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_due ON jobs (due_at, sequence) WHERE state <> 'dead';

-- What a job is about. No reference to memories: a job may be put before its memory, and outlives one that never came.
CREATE TABLE job_memories (
    memory_id TEXT NOT NULL,
    job INTEGER NOT NULL REFERENCES jobs (sequence) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_memories_by_job ON job_memories (job);
