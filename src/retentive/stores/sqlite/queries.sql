-- Every statement the SQLite store runs, by name. {name} stands for another entry of this file.

-- name: begin_read
BEGIN;

-- name: begin_write
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: identity
SELECT space FROM identity;

-- name: set_identity
INSERT INTO identity (only, space) VALUES (1, ?);

-- name: clock
-- Read at the start of every answer: two numbers say whether a cache is current.
SELECT change, generation FROM clock;

-- name: set_clock
UPDATE clock SET change = ?, generation = ?;

-- name: memory_columns
-- A fragment: what `rows.decode` reads, in its order.
m.row, m.id, m.created_at, m.recorded_at, m.kind, m.importance, m.trust, m.pinned, m.permanent, m.valid_from,
m.valid_until, m.superseded_at, m.suppressed_at, m.updated_at, m.session, m.recurs, m.key, m.source, m.speaker,
m.superseded_by, m.supersedes, m.derived_from, m.tags, m.entities, m.metadata, m.text,
a.last_at, a.count, a.pending_at, a.recent

-- name: memory_by_id
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row WHERE m.id = ?;

-- name: memories_by_row
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row
WHERE m.row IN (SELECT value FROM carray(?));

-- name: texts_by_row
SELECT row, text FROM memories WHERE row IN (SELECT value FROM carray(?));

-- name: holders
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row
WHERE m.key = ? AND m.superseded_at IS NULL AND m.suppressed_at IS NULL
ORDER BY m.created_at DESC, m.id;

-- name: derived_from_any
-- INDEXED BY: the index holds the few that were derived at all.
SELECT {memory_columns} FROM memories AS m INDEXED BY memories_derived LEFT JOIN accesses AS a ON a.row = m.row
WHERE m.derived_from <> '[]'
    AND EXISTS (SELECT 1 FROM json_each(m.derived_from) AS d WHERE d.value IN (SELECT value FROM json_each(?1)))
ORDER BY m.created_at DESC, m.id;

-- name: unstaged
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row
WHERE NOT EXISTS (SELECT 1 FROM staged AS s WHERE s.row = m.row)
ORDER BY m.row LIMIT ?;

-- name: cached_columns
-- A fragment: what a cache keeps of a memory, in the order of `cache.FETCHED`. Behind it come the memory's terms, NULL
-- where they are as they were.
m.row, m.id, m.created_at, m.kind, m.importance, m.trust, m.pinned, m.permanent, m.valid_from, m.valid_until,
m.superseded_at, m.suppressed_at, m.session, m.speaker, m.recurs, a.last_at, coalesce(a.count, 0.0), v.vector

-- name: cached_from
SELECT {cached_columns}, t.terms FROM memories AS m JOIN vectors AS v ON v.row = m.row
LEFT JOIN terms AS t ON t.row = m.row LEFT JOIN accesses AS a ON a.row = m.row
WHERE m.row > ? ORDER BY m.row LIMIT ?;

-- name: cached_since
-- INDEXED BY: without statistics the planner would rather walk the whole table in the order asked for.
SELECT {cached_columns}, CASE WHEN t.change > ?1 THEN t.terms END
FROM memories AS m INDEXED BY memories_by_change JOIN vectors AS v ON v.row = m.row
LEFT JOIN terms AS t ON t.row = m.row LEFT JOIN accesses AS a ON a.row = m.row
WHERE m.change > ?1 ORDER BY m.row;

-- name: accessed_since
SELECT row, last_at, count FROM accesses WHERE change > ?;

-- name: erased_since
SELECT row FROM erasures WHERE change > ?;

-- name: count_memories
SELECT count(*) FROM memories;

-- name: changed_last
-- What a derived file must agree with: what was written last, up to the state it has.
SELECT row, id, created_at, importance FROM memories INDEXED BY memories_by_change
WHERE change <= ? ORDER BY change DESC LIMIT ?;

-- name: vectors_by_row
-- In the order asked for: CROSS JOIN keeps the planner from turning it round.
SELECT v.vector FROM carray(?) AS wanted CROSS JOIN vectors AS v ON v.row = wanted.value;

-- name: history
SELECT row, recent FROM accesses WHERE row IN (SELECT value FROM carray(?));

-- name: row_of
SELECT row FROM memories WHERE id = ?;

-- name: indexed_of
-- What `replace` compares before it rewrites an index.
SELECT row, tags, entities, metadata FROM memories WHERE id = ?;

-- name: insert_memory
INSERT INTO memories (
    change, id, created_at, recorded_at, kind, importance, trust, pinned, permanent, valid_from, valid_until,
    superseded_at, suppressed_at, updated_at, session, recurs, key, source, speaker, superseded_by, supersedes,
    derived_from, tags, entities, metadata, text
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: replace_memory
UPDATE memories SET
    change = ?1, created_at = ?3, recorded_at = ?4, kind = ?5, importance = ?6, trust = ?7, pinned = ?8,
    permanent = ?9, valid_from = ?10, valid_until = ?11, superseded_at = ?12, suppressed_at = ?13, updated_at = ?14,
    session = ?15, recurs = ?16, key = ?17, source = ?18, speaker = ?19, superseded_by = ?20, supersedes = ?21,
    derived_from = ?22, tags = ?23, entities = ?24, metadata = ?25, text = ?26
WHERE id = ?2;

-- name: erase_memory
-- Vector, terms, tags, metadata, entities and accesses go with it (ON DELETE CASCADE).
DELETE FROM memories WHERE row = ?;

-- name: note_erasure
INSERT INTO erasures (change, row) VALUES (?, ?);

-- name: set_vector
INSERT INTO vectors (row, vector) VALUES (?, ?) ON CONFLICT (row) DO UPDATE SET vector = excluded.vector;

-- name: vector_by_id
SELECT m.id, v.vector FROM memories AS m JOIN vectors AS v ON v.row = m.row WHERE m.id = ?;

-- name: some_vector_size
SELECT length(vector) FROM vectors LIMIT 1;

-- name: some_staged_size
SELECT length(vector) FROM staged LIMIT 1;

-- name: stage_vector
INSERT INTO staged (row, vector) VALUES (?, ?) ON CONFLICT (row) DO UPDATE SET vector = excluded.vector;

-- name: unstage_vector
DELETE FROM staged WHERE row = ?;

-- name: count_unstaged
SELECT count(*) FROM memories AS m WHERE NOT EXISTS (SELECT 1 FROM staged AS s WHERE s.row = m.row);

-- name: switch_vectors
UPDATE vectors SET vector = (SELECT s.vector FROM staged AS s WHERE s.row = vectors.row);

-- name: discard_staged
DELETE FROM staged;

-- name: insert_terms
INSERT INTO terms (row, change, terms) VALUES (?, ?, ?);

-- name: replace_terms
INSERT INTO terms (row, change, terms) VALUES (?1, ?2, ?3)
ON CONFLICT (row) DO UPDATE SET change = excluded.change, terms = excluded.terms;

-- name: insert_tag
INSERT INTO tags (row, tag) VALUES (?, ?);

-- name: delete_tags
DELETE FROM tags WHERE row = ?;

-- name: insert_metadata
INSERT INTO metadata (row, name, value) VALUES (?, ?, ?);

-- name: delete_metadata
DELETE FROM metadata WHERE row = ?;

-- name: insert_entity
INSERT INTO entities (row, entity) VALUES (?, ?);

-- name: delete_entities
DELETE FROM entities WHERE row = ?;

-- name: set_access
INSERT INTO accesses (row, change, last_at, count, pending_at, recent)
SELECT row, ?2, ?3, ?4, ?5, ?6 FROM memories WHERE id = ?1
ON CONFLICT (row) DO UPDATE SET
    change = excluded.change, last_at = excluded.last_at, count = excluded.count, pending_at = excluded.pending_at,
    recent = excluded.recent;

-- name: rows_with_tag
SELECT row FROM tags WHERE tag = ?;

-- name: rows_with_metadata
SELECT row FROM metadata WHERE name = ? AND value = ?;

-- name: rows_with_entity
SELECT row FROM entities WHERE entity = ?;

-- name: rows_with_tag_among
SELECT row FROM tags WHERE tag = ? AND row IN (SELECT value FROM carray(?));

-- name: rows_with_metadata_among
SELECT row FROM metadata WHERE name = ? AND value = ? AND row IN (SELECT value FROM carray(?));

-- name: rows_with_entity_among
SELECT row FROM entities WHERE entity = ? AND row IN (SELECT value FROM carray(?));

-- name: known_entities
SELECT asked.value FROM carray(?) AS asked WHERE EXISTS (SELECT 1 FROM entities WHERE entity = asked.value);

-- name: knows_entity
SELECT 1 FROM entities WHERE entity = ? LIMIT 1;

-- name: linked_entities
SELECT entity, count(*) AS shared FROM entities WHERE row IN (SELECT value FROM carray(?1))
GROUP BY entity ORDER BY shared DESC, entity LIMIT ?2;

-- name: insert_journal
INSERT INTO journal (at, action, memory_id, actor, reason, before, after) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: last_line
SELECT coalesce(max(sequence), 0) FROM journal;

-- name: journal_columns
sequence, at, action, memory_id, actor, reason, before, after

-- name: journal_of_all
SELECT {journal_columns} FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?;

-- name: journal_of_one
SELECT {journal_columns} FROM journal WHERE sequence > ? AND memory_id = ? ORDER BY sequence LIMIT ?;

-- name: redact_journal
UPDATE journal SET reason = '', before = NULL, after = NULL WHERE memory_id = ?;

-- name: redact_line
UPDATE journal SET reason = '', before = NULL, after = NULL WHERE sequence = ?;

-- name: redact_recall
UPDATE ledger SET cue = '', cue_vector = NULL WHERE id = ?;

-- name: insert_recall
INSERT INTO ledger (id, at, policy, cue, ids, scores, cue_vector, used, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: recall_columns
id, at, policy, cue, ids, scores, cue_vector, used, outcome

-- name: recall_by_id
SELECT {recall_columns} FROM ledger WHERE id = ?;

-- name: recalls
SELECT {recall_columns} FROM ledger
WHERE (?1 IS NULL OR at >= ?1) AND (?2 IS NULL OR policy = ?2) AND at <= ?4
    AND (at < ?4 OR sequence < (SELECT l.sequence FROM ledger AS l WHERE l.id = ?5))
ORDER BY at DESC, sequence DESC LIMIT ?3;

-- name: asked_since
SELECT id, cue, cue_vector FROM ledger WHERE at >= ?1 AND policy = ?2 ORDER BY at DESC, sequence DESC LIMIT ?3;

-- name: note_feedback
UPDATE ledger SET used = ?2, outcome = coalesce(?3, outcome) WHERE id = ?1;

-- name: drop_old_recalls
DELETE FROM ledger WHERE at < ?;

-- name: drop_surplus_recalls
DELETE FROM ledger WHERE sequence IN (SELECT sequence FROM ledger ORDER BY at DESC, sequence DESC LIMIT -1 OFFSET ?);

-- name: put_finding
INSERT INTO findings (id, at, kind, status, memory_id, other_id, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    at = excluded.at, kind = excluded.kind, status = excluded.status, memory_id = excluded.memory_id,
    other_id = excluded.other_id, body = excluded.body;

-- name: finding_columns
id, at, kind, status, memory_id, other_id, body

-- name: finding_by_id
SELECT {finding_columns} FROM findings WHERE id = ?;

-- name: findings
SELECT {finding_columns} FROM findings
WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR status = ?2) AND at <= ?4 AND (at < ?4 OR id > ?5)
ORDER BY at DESC, id LIMIT ?3;

-- name: findings_about
SELECT {finding_columns} FROM findings
WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR status = ?2) AND (memory_id = ?6 OR other_id = ?6)
    AND at <= ?4 AND (at < ?4 OR id > ?5)
ORDER BY at DESC, id LIMIT ?3;

-- name: erase_findings
DELETE FROM findings WHERE memory_id = ?1 OR other_id = ?1;

-- name: setting
SELECT value FROM settings WHERE name = ?;

-- name: settings
SELECT name, value FROM settings ORDER BY name;

-- name: set_setting
INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: drop_setting
DELETE FROM settings WHERE name = ?;

-- name: truncate_log
-- After an erasure: the write-ahead log still holds the old pages until it is cut to nothing.
PRAGMA wal_checkpoint(TRUNCATE);

-- name: rebuild
-- After an erasure that left something behind: secure_delete overwrites what is freed, not the copies that a page keeps in
-- its unused middle when it was split. A file that is written anew has none.
VACUUM;

-- name: incomplete
-- Memories without a vector or without terms: no recall finds them, and no cache knows them.
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row
WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.row = m.row)
    OR NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.row = m.row)
ORDER BY m.row;

-- name: memory_of_row
SELECT {memory_columns} FROM memories AS m LEFT JOIN accesses AS a ON a.row = m.row WHERE m.row = ?;

-- name: quick_check
PRAGMA quick_check;

-- name: integrity_of_tags
PRAGMA integrity_check(tags);

-- name: integrity_of_entities
PRAGMA integrity_check(entities);

-- name: integrity_of_metadata
PRAGMA integrity_check(metadata);

-- name: filed_columns
-- What a memory says of itself that is filed in tables of its own.
SELECT row, tags, entities, metadata FROM memories WHERE row > ? ORDER BY row LIMIT ?;

-- name: tags_between
SELECT row, tag FROM tags WHERE row > ? AND row <= ?;

-- name: entities_between
SELECT row, entity FROM entities WHERE row > ? AND row <= ?;

-- name: metadata_between
SELECT row, name, value FROM metadata WHERE row > ? AND row <= ?;

-- name: foreign_key_check
PRAGMA foreign_key_check;

-- name: rows_without_vector
SELECT count(*) FROM memories AS m WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.row = m.row);

-- name: rows_without_terms
SELECT count(*) FROM memories AS m WHERE NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.row = m.row);

-- name: vectors_from
SELECT row, vector FROM vectors WHERE row > ? ORDER BY row LIMIT ?;

-- name: highest_change
SELECT max(
    coalesce((SELECT max(change) FROM memories), 0), coalesce((SELECT max(change) FROM accesses), 0),
    coalesce((SELECT max(change) FROM erasures), 0)
);

-- name: job_columns
-- A fragment: what `jobs.decode` reads, in its order.
id, kind, state, created_at, due_at, attempts, lease, memories, error, payload

-- name: put_job
INSERT INTO jobs (id, kind, state, created_at, due_at, attempts, lease, memories, error, payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, state = excluded.state, created_at = excluded.created_at, due_at = excluded.due_at,
    attempts = excluded.attempts, lease = excluded.lease, memories = excluded.memories, error = excluded.error,
    payload = excluded.payload;

-- name: unlink_job
DELETE FROM job_memories WHERE job = (SELECT sequence FROM jobs WHERE id = ?);

-- name: link_job
INSERT INTO job_memories (memory_id, job) SELECT ?1, sequence FROM jobs WHERE id = ?2;

-- name: job_by_id
SELECT {job_columns} FROM jobs WHERE id = ?;

-- name: due_jobs
SELECT {job_columns} FROM jobs
WHERE state <> 'dead' AND due_at <= ?1 AND kind IN (SELECT value FROM json_each(?2))
ORDER BY due_at, sequence LIMIT ?3;

-- name: listed_jobs
SELECT {job_columns} FROM jobs
WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR kind = ?2)
ORDER BY sequence LIMIT ?3;

-- name: drop_job
DELETE FROM jobs WHERE id = ?;

-- name: drop_jobs_about
DELETE FROM jobs WHERE sequence IN (SELECT job FROM job_memories WHERE memory_id = ?);
