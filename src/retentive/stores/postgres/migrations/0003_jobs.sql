-- The queue: work that waits to be done, its retries, and what failed for good. Works with code from: 1.
-- Done jobs are removed. `sequence` is the order in which jobs were first put; `due_at` is when to begin, of a running job
-- when its lease ends.
CREATE TABLE @jobs (
    space text COLLATE "C" NOT NULL,
    id_key uuid NOT NULL,
    sequence bigint NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    attempts integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    lease text COLLATE "C" NOT NULL,
    memories text COLLATE "C" NOT NULL,
    error text COLLATE "C" NOT NULL,
    payload text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, id_key)
) /* partition */;
CREATE INDEX jobs_due ON @jobs (space, due_at, sequence) WHERE state <> 'dead';
CREATE INDEX jobs_by_sequence ON @jobs (space, sequence);

-- What a job is about.
CREATE TABLE @job_memories (
    space text COLLATE "C" NOT NULL,
    memory_key uuid NOT NULL,
    job uuid NOT NULL,
    PRIMARY KEY (space, memory_key, job)
) /* partition */;
CREATE INDEX job_memories_by_job ON @job_memories (space, job);

ALTER TABLE @jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE @jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @jobs USING (space = current_setting('retentive.space', true));
ALTER TABLE @job_memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE @job_memories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @job_memories USING (space = current_setting('retentive.space', true));
