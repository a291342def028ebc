-- What was noticed about two sayings when the later one was written: conflicts and repetitions. Gone with either memory.
-- Works with code from: 1.
CREATE TABLE @findings (
    space text COLLATE "C" NOT NULL,
    id_key uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    memory_key uuid NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    other_key uuid,
    other_id text COLLATE "C",
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, id_key)
) /* partition */;
CREATE INDEX findings_by_time ON @findings (space, at);
CREATE INDEX findings_by_memory ON @findings (space, memory_key);
CREATE INDEX findings_by_other ON @findings (space, other_key) WHERE other_key IS NOT NULL;
ALTER TABLE @findings ENABLE ROW LEVEL SECURITY;
ALTER TABLE @findings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON @findings USING (space = current_setting('retentive.space', true));
