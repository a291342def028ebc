-- The first schema: memories with their vectors, terms, tags, metadata and entities; the journal; the ledger; settings.
-- Times are integer microseconds since 1970 UTC. Lists and mappings are JSON. `change` grows by one with every insert,
-- replacement, access and erasure, so that a cache can ask for what it has not seen.

-- Which space this file is: a file that was renamed or copied under another name must not answer for that name.
CREATE TABLE identity (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    space TEXT NOT NULL
) STRICT;

-- How far the content has changed; `generation` moves where a cache must start again from nothing.
CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    change INTEGER NOT NULL,
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO clock (only, change, generation) VALUES (1, 0, 0);

-- AUTOINCREMENT: the number of an erased row never comes back, so a late reader cannot take one memory for another.
-- The text comes last: reading the other columns does not walk its overflow pages.
CREATE TABLE memories (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    importance REAL NOT NULL,
    trust REAL NOT NULL,
    pinned INTEGER NOT NULL,
    permanent INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    superseded_at INTEGER,
    suppressed_at INTEGER,
    updated_at INTEGER,
    session TEXT,
    recurs TEXT,
    key TEXT,
    source TEXT,
    speaker TEXT,
    superseded_by TEXT,
    supersedes TEXT NOT NULL,
    derived_from TEXT NOT NULL,
    tags TEXT NOT NULL,
    entities TEXT NOT NULL,
    metadata TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX memories_by_change ON memories (change);
CREATE INDEX memories_by_key ON memories (key) WHERE key IS NOT NULL;
CREATE INDEX memories_derived ON memories (row) WHERE derived_from <> '[]';
CREATE INDEX memories_by_session ON memories (session, created_at, row) WHERE session IS NOT NULL;

-- Apart from `memories`: every recall writes here, and must not rewrite the texts.
CREATE TABLE accesses (
    row INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    change INTEGER NOT NULL,
    last_at INTEGER,
    count REAL NOT NULL,
    pending_at INTEGER,
    recent BLOB NOT NULL -- little-endian int64 microseconds, newest last
) STRICT;
CREATE INDEX accesses_by_change ON accesses (change);

-- Little-endian float32, unit length.
CREATE TABLE vectors (
    row INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;

-- The next embedder's vectors, until all are there and take the place of the current ones.
CREATE TABLE staged (
    row INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;

CREATE TABLE tags (
    row INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (row, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags (tag, row);

-- `value` is canonical JSON: 1 and 1.0 are one text, 1 and true are not.
CREATE TABLE metadata (
    row INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (row, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_by_value ON metadata (name, value, row);

CREATE TABLE entities (
    row INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    entity TEXT NOT NULL,
    PRIMARY KEY (row, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX entities_by_entity ON entities (entity, row);

-- The index terms of a memory in reading order, repetitions included: tokens without spaces, parted by one. The truth of
-- the lexical index, which every process derives in memory. `change` is when they were last written: a replacement that
-- leaves the text alone leaves it too.
CREATE TABLE terms (
    row INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    change INTEGER NOT NULL,
    terms TEXT NOT NULL
) STRICT;

-- Which rows went, for caches. Nothing of what they said.
CREATE TABLE erasures (
    change INTEGER PRIMARY KEY,
    row INTEGER NOT NULL
) STRICT;

CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    before TEXT,
    after TEXT
) STRICT;
CREATE INDEX journal_by_memory ON journal (memory_id);
CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;
-- The one change allowed is the one that erasure makes: a line becomes a tombstone without content.
CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
WHEN NOT (
    new.sequence IS old.sequence AND new.at IS old.at AND new.action IS old.action
    AND new.memory_id IS old.memory_id AND new.actor IS old.actor
    AND new.reason = '' AND new.before IS NULL AND new.after IS NULL
)
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TABLE ledger (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    policy TEXT NOT NULL,
    cue TEXT NOT NULL,
    ids TEXT NOT NULL,
    scores BLOB NOT NULL, -- little-endian float64
    cue_vector BLOB, -- little-endian float32
    used TEXT NOT NULL,
    outcome TEXT
) STRICT;
CREATE INDEX ledger_by_time ON ledger (at, sequence);

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
