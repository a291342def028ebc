-- The first schema. `@name` is a table of the schema that the store was told to use. Works with code from: 1.
-- `space` leads every primary key and index, no constraint reaches beyond a space, and numbers come from the space's own
-- row in `spaces`, not from a sequence: so the tables may be partitioned by hash of `space`, or distributed by Citus.
-- Times are microseconds since 1970 UTC. Lists and mappings are JSON. What is only looked up by equality is kept as a
-- 128-bit digest, since an index entry may not be longer than 2,700 bytes. Text has no NUL: see `driver.py`.

-- One row per space. Whoever writes holds it: it hands out row numbers and sequences, and counts what ranking needs.
CREATE TABLE @spaces (
    space text COLLATE "C" NOT NULL,
    change bigint NOT NULL DEFAULT 0,
    last_row bigint NOT NULL DEFAULT 0,
    last_sequence bigint NOT NULL DEFAULT 0,
    memories bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0,
    dimension integer,
    PRIMARY KEY (space)
) /* partition */;

CREATE TABLE @memories (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    created_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    superseded_at bigint,
    suppressed_at bigint,
    updated_at bigint,
    importance double precision NOT NULL,
    trust double precision NOT NULL,
    pinned boolean NOT NULL,
    permanent boolean NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id_key uuid NOT NULL,
    key_key uuid,
    session_key uuid,
    derived_keys uuid[],
    id text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    recurs text COLLATE "C",
    key text COLLATE "C",
    source text COLLATE "C",
    speaker text COLLATE "C",
    superseded_by text COLLATE "C",
    supersedes text COLLATE "C" NOT NULL,
    derived_from text COLLATE "C" NOT NULL,
    tags text COLLATE "C" NOT NULL,
    entities text COLLATE "C" NOT NULL,
    metadata text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, row)
) /* partition */;
CREATE UNIQUE INDEX memories_by_id ON @memories (space, id_key);
CREATE INDEX memories_by_time ON @memories (space, created_at);
CREATE INDEX memories_by_importance ON @memories (space, importance, created_at);
CREATE INDEX memories_by_key ON @memories (space, key_key) WHERE key_key IS NOT NULL;
CREATE INDEX memories_derived ON @memories (space, row) WHERE derived_keys IS NOT NULL;
CREATE INDEX memories_by_session ON @memories (space, session_key, created_at, row) WHERE session_key IS NOT NULL;

-- Apart from `memories`: every recall writes here, and must not rewrite texts.
CREATE TABLE @accesses (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    last_at bigint,
    count double precision NOT NULL,
    pending_at bigint,
    recent bytea NOT NULL, -- little-endian int64 microseconds, newest last
    PRIMARY KEY (space, row)
) /* partition */;
CREATE INDEX accesses_by_time ON @accesses (space, last_at);

-- Unit vectors, whole: an index over them (half precision, one for each large space) is made by `retentive postgres index`.
CREATE TABLE @vectors (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (space, row)
) /* partition */;

-- The next embedder's vectors, until all are there and take the place of the current ones.
CREATE TABLE @staged (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (space, row)
) /* partition */;

CREATE TABLE @tags (
    space text COLLATE "C" NOT NULL,
    tag uuid NOT NULL,
    row bigint NOT NULL,
    PRIMARY KEY (space, tag, row)
) /* partition */;

-- One row per entry of a memory's metadata: the digest of name and canonical value.
CREATE TABLE @metadata (
    space text COLLATE "C" NOT NULL,
    entry uuid NOT NULL,
    row bigint NOT NULL,
    PRIMARY KEY (space, entry, row)
) /* partition */;

CREATE TABLE @entities (
    space text COLLATE "C" NOT NULL,
    entity uuid NOT NULL,
    row bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, entity, row)
) /* partition */;
CREATE INDEX entities_by_row ON @entities (space, row);

-- A memory's index terms in reading order, repetitions included: what `postings` and `vocabulary` are made from.
CREATE TABLE @terms (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    terms text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, row)
) /* partition */;

-- The inverted index. `token` is a 64-bit digest of a term; a search reads the primary key alone.
CREATE TABLE @postings (
    space text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    row bigint NOT NULL,
    count integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (space, token, row) INCLUDE (count, length)
) /* partition */;

-- How many rows of the space have a term: BM25's statistics, per space.
CREATE TABLE @vocabulary (
    space text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (space, token)
) /* partition */;

CREATE TABLE @journal (
    space text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    memory_key uuid NOT NULL,
    action text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    before text COLLATE "C",
    after text COLLATE "C",
    PRIMARY KEY (space, sequence)
) /* partition */;
CREATE INDEX journal_by_memory ON @journal (space, memory_key, sequence);

CREATE TABLE @ledger (
    space text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    id_key uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    policy text COLLATE "C" NOT NULL,
    cue text COLLATE "C" NOT NULL,
    ids text COLLATE "C" NOT NULL,
    scores bytea NOT NULL, -- little-endian float64
    cue_vector bytea, -- little-endian float32
    used text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    PRIMARY KEY (space, sequence)
) /* partition */;
CREATE UNIQUE INDEX ledger_by_id ON @ledger (space, id_key);
CREATE INDEX ledger_by_time ON @ledger (space, at, sequence);

CREATE TABLE @settings (
    space text COLLATE "C" NOT NULL,
    name_key uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, name_key)
) /* partition */;

-- The second wall: a session says which space it is in (SET LOCAL retentive.space), and sees nothing else; one that says
-- nothing sees nothing. FORCE: the owner of the tables is held to it as well. Superusers are not: do not connect as one.
ALTER TABLE @memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE @memories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @memories USING (space = current_setting('retentive.space', true));
ALTER TABLE @accesses ENABLE ROW LEVEL SECURITY;
ALTER TABLE @accesses FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @accesses USING (space = current_setting('retentive.space', true));
ALTER TABLE @vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE @vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @vectors USING (space = current_setting('retentive.space', true));
ALTER TABLE @staged ENABLE ROW LEVEL SECURITY;
ALTER TABLE @staged FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @staged USING (space = current_setting('retentive.space', true));
ALTER TABLE @tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE @tags FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @tags USING (space = current_setting('retentive.space', true));
ALTER TABLE @metadata ENABLE ROW LEVEL SECURITY;
ALTER TABLE @metadata FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @metadata USING (space = current_setting('retentive.space', true));
ALTER TABLE @entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE @entities FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @entities USING (space = current_setting('retentive.space', true));
ALTER TABLE @terms ENABLE ROW LEVEL SECURITY;
ALTER TABLE @terms FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @terms USING (space = current_setting('retentive.space', true));
ALTER TABLE @postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE @postings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @postings USING (space = current_setting('retentive.space', true));
ALTER TABLE @vocabulary ENABLE ROW LEVEL SECURITY;
ALTER TABLE @vocabulary FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @vocabulary USING (space = current_setting('retentive.space', true));
ALTER TABLE @ledger ENABLE ROW LEVEL SECURITY;
ALTER TABLE @ledger FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @ledger USING (space = current_setting('retentive.space', true));
ALTER TABLE @settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE @settings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @settings USING (space = current_setting('retentive.space', true));
-- The list of spaces is readable to a session that says it lists; writing still takes the space.
ALTER TABLE @spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE @spaces FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @spaces USING (space = current_setting('retentive.space', true));
CREATE POLICY listing ON @spaces FOR SELECT USING (current_setting('retentive.listing', true) = 'on');
-- The journal is append-only: the one change allowed is the one erasure makes (a line becomes a tombstone without
-- content), and lines go only with their whole space.
ALTER TABLE @journal ENABLE ROW LEVEL SECURITY;
ALTER TABLE @journal FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @journal FOR SELECT USING (space = current_setting('retentive.space', true));
CREATE POLICY append ON @journal FOR INSERT WITH CHECK (space = current_setting('retentive.space', true));
CREATE POLICY erase ON @journal FOR UPDATE USING (space = current_setting('retentive.space', true))
WITH CHECK (
    space = current_setting('retentive.space', true) AND reason = '' AND before IS NULL AND after IS NULL
);
CREATE POLICY dropping ON @journal FOR DELETE
USING (
    space = current_setting('retentive.space', true) AND current_setting('retentive.dropping', true) = 'on'
);
