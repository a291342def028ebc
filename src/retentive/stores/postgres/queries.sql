-- Every statement the PostgreSQL store runs on memories, by name. {name} stands for another entry of this file, {gate}
-- for the conditions of a gate (`gates.py`), @name for a table. Every table named has its space asked for: a test reads
-- this file and says where not.

-- name: head
-- Read at the start of every answer: whether the space is there, and its statistics.
SELECT s.change, s.last_row, s.last_sequence, s.memories, s.terms, s.dimension
FROM @spaces AS s WHERE s.space = %(space)s

-- name: lock_head
{head} FOR UPDATE

-- name: set_head
UPDATE @spaces AS s SET
    change = %(change)s, last_row = %(last_row)s, last_sequence = %(last_sequence)s, memories = %(memories)s,
    terms = %(terms)s, dimension = %(dimension)s
WHERE s.space = %(space)s

-- name: create_space
INSERT INTO @spaces (space) VALUES (%(space)s) ON CONFLICT (space) DO NOTHING

-- name: memory_columns
-- A fragment: what `rows.decode` reads, in its order.
m.row, m.id, m.created_at, m.recorded_at, m.kind, m.importance, m.trust, m.pinned, m.permanent, m.valid_from,
m.valid_until, m.superseded_at, m.suppressed_at, m.updated_at, m.session, m.recurs, m.key, m.source, m.speaker,
m.superseded_by, m.supersedes, m.derived_from, m.tags, m.entities, m.metadata, m.text,
a.last_at, a.count, a.pending_at, a.recent

-- name: with_access
-- A fragment.
@memories AS m LEFT JOIN @accesses AS a ON a.space = %(space)s AND a.row = m.row

-- name: memories_by_id
SELECT {memory_columns} FROM {with_access} WHERE m.space = %(space)s AND m.id_key = ANY(%(keys)s)

-- name: memories_by_row
SELECT {memory_columns} FROM {with_access} WHERE m.space = %(space)s AND m.row = ANY(%(rows)s)

-- name: texts_by_row
SELECT m.row, m.text FROM @memories AS m WHERE m.space = %(space)s AND m.row = ANY(%(rows)s)

-- name: holders
SELECT {memory_columns} FROM {with_access}
WHERE m.space = %(space)s AND m.key_key = %(key)s AND m.superseded_at IS NULL AND m.suppressed_at IS NULL
ORDER BY m.created_at DESC, m.id

-- name: page
SELECT {memory_columns} FROM {with_access}
WHERE m.space = %(space)s AND (
    %(after_created)s::bigint IS NULL OR m.created_at < %(after_created)s::bigint
    OR (m.created_at = %(after_created)s::bigint AND m.id > %(after_id)s::text COLLATE "C")
) {gate}
ORDER BY m.created_at DESC, m.id LIMIT %(limit)s

-- name: count
SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s {gate}

-- name: columns_by_row
SELECT m.row, m.id, m.kind, v.embedding, m.created_at, a.last_at, coalesce(a.count, 0), m.importance, m.trust,
    m.permanent, m.session, m.speaker, m.recurs
FROM {with_access} JOIN @vectors AS v ON v.space = %(space)s AND v.row = m.row
WHERE m.space = %(space)s AND m.row = ANY(%(rows)s)

-- name: history_by_row
SELECT a.row, a.recent FROM @accesses AS a WHERE a.space = %(space)s AND a.row = ANY(%(rows)s)

-- name: vectors_by_id
SELECT m.id, v.embedding FROM @memories AS m JOIN @vectors AS v ON v.space = %(space)s AND v.row = m.row
WHERE m.space = %(space)s AND m.id_key = ANY(%(keys)s)

-- name: head_of_scored
-- A fragment: the population of a channel in numbers, and beside it the best rows; one line of numbers at least.
SELECT t.*, s.row, s.score FROM (
    SELECT count(*), coalesce(min(c.score), 0), coalesce(max(c.score), 0), coalesce(avg(c.score), 0) FROM scored AS c
) AS t LEFT JOIN LATERAL (
    SELECT c.row, c.score FROM scored AS c ORDER BY c.score DESC, c.created_at DESC, c.id LIMIT %(limit)s
) AS s ON true

-- name: recent_score
-- A fragment.
greatest(m.created_at, coalesce(a.last_at, m.created_at))::double precision / 1000000

-- name: recent
WITH scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, {recent_score} AS score FROM {with_access} WHERE m.space = %(space)s {gate}
) {head_of_scored}

-- name: important
WITH scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, m.importance AS score FROM @memories AS m WHERE m.space = %(space)s {gate}
) {head_of_scored}

-- name: sampled_recent
SELECT {recent_score} FROM {with_access} WHERE m.space = %(space)s AND m.row = ANY(%(rows)s) {gate}

-- name: sampled_important
SELECT m.importance FROM @memories AS m WHERE m.space = %(space)s AND m.row = ANY(%(rows)s) {gate}

-- name: walked_recent
-- Who is best by the later of two moments is best by one of them: two indexes, each from its end.
WITH found AS (
    (SELECT m.row, m.created_at, m.id, {recent_score} AS score FROM {with_access} WHERE m.space = %(space)s {gate}
     ORDER BY m.created_at DESC, m.id LIMIT %(limit)s)
    UNION
    (SELECT m.row, m.created_at, m.id, {recent_score} AS score
     FROM @accesses AS a JOIN @memories AS m ON m.space = %(space)s AND m.row = a.row
     WHERE a.space = %(space)s AND a.last_at IS NOT NULL {gate}
     ORDER BY a.last_at DESC, m.created_at DESC, m.id LIMIT %(limit)s)
)
SELECT f.row, f.score FROM found AS f ORDER BY f.score DESC, f.created_at DESC, f.id LIMIT %(limit)s

-- name: walked_important
SELECT m.row, m.importance FROM @memories AS m WHERE m.space = %(space)s {gate}
ORDER BY m.importance DESC, m.created_at DESC, m.id LIMIT %(limit)s

-- name: count_of
SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s AND m.row = ANY(%(rows)s) {gate}

-- name: present_of
SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s AND m.row = ANY(%(rows)s)

-- name: within_score
-- A fragment.
1 - abs(2 * m.created_at - %(first)s::bigint - %(last)s::bigint)::double precision
    / (%(last)s::bigint - %(first)s::bigint)::double precision

-- name: within
WITH scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, {within_score} AS score FROM @memories AS m
    WHERE m.space = %(space)s AND m.created_at >= %(first)s::bigint AND m.created_at < %(last)s::bigint {gate}
) {head_of_scored}

-- name: mentions
SELECT e.entity, count(*) FROM @entities AS e WHERE e.space = %(space)s AND e.entity = ANY(%(entities)s)
GROUP BY e.entity

-- name: mentioning
-- The weights are summed in the order asked for: in another order equal sums could differ in their last bit.
WITH shared AS (
    SELECT e.row, sum(w.weight ORDER BY w.place) AS score
    FROM unnest(%(entities)s::uuid[], %(weights)s::double precision[]) WITH ORDINALITY AS w (entity, weight, place)
    JOIN @entities AS e ON e.space = %(space)s AND e.entity = w.entity GROUP BY e.row
), scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, h.score FROM shared AS h JOIN @memories AS m ON m.row = h.row
    WHERE m.space = %(space)s {gate}
) {head_of_scored}

-- name: entity_links
SELECT max(o.name), count(DISTINCT o.row) AS shared FROM @entities AS e
JOIN @entities AS o ON o.space = %(space)s AND o.row = e.row
WHERE e.space = %(space)s AND e.entity = ANY(%(entities)s) AND NOT o.entity = ANY(%(entities)s)
GROUP BY o.entity ORDER BY shared DESC, max(o.name) LIMIT %(limit)s

-- name: neighbours
SELECT w.row, n.row, n.distance FROM unnest(%(rows)s::bigint[]) AS r (row)
JOIN @memories AS w ON w.space = %(space)s AND w.row = r.row AND w.session_key IS NOT NULL
CROSS JOIN LATERAL (
    (SELECT m.row, -row_number() OVER (ORDER BY m.created_at DESC, m.row DESC) AS distance FROM @memories AS m
     WHERE m.space = %(space)s AND m.session_key = w.session_key
         AND (m.created_at, m.row) < (w.created_at, w.row) {gate}
     ORDER BY m.created_at DESC, m.row DESC LIMIT %(reach)s)
    UNION ALL
    (SELECT m.row, row_number() OVER (ORDER BY m.created_at, m.row) AS distance FROM @memories AS m
     WHERE m.space = %(space)s AND m.session_key = w.session_key
         AND (m.created_at, m.row) > (w.created_at, w.row) {gate}
     ORDER BY m.created_at, m.row LIMIT %(reach)s)
) AS n

-- name: nearest
-- Single precision decides who is looked at again: the head with what may tie with its last, and the tail for `low`.
WITH scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, -(v.embedding <#> %(vector)s) AS score
    FROM @memories AS m JOIN @vectors AS v ON v.space = %(space)s AND v.row = m.row WHERE m.space = %(space)s {gate}
), chosen AS (
    (SELECT c.row, true AS best FROM scored AS c ORDER BY c.score DESC, c.created_at DESC, c.id LIMIT %(limit)s)
    UNION ALL
    (SELECT c.row, false AS best FROM scored AS c ORDER BY c.score LIMIT %(tail)s)
)
SELECT t.count, t.mean, m.row, m.created_at, m.id, v.embedding, n.best
FROM (SELECT count(*) AS count, coalesce(avg(c.score), 0) AS mean FROM scored AS c) AS t
LEFT JOIN chosen AS n ON true
LEFT JOIN @memories AS m ON m.space = %(space)s AND m.row = n.row
LEFT JOIN @vectors AS v ON v.space = %(space)s AND v.row = n.row

-- name: index_is_there
SELECT 1 FROM pg_index AS x WHERE x.indexrelid = to_regclass(%(index)s) AND x.indisvalid

-- name: sampled
-- How a space scores, told by some of its rows.
SELECT -(v.embedding <#> %(vector)s) FROM @memories AS m
JOIN @vectors AS v ON v.space = %(space)s AND v.row = m.row
WHERE m.space = %(space)s AND m.row = ANY(%(rows)s) {gate}

-- name: nearest_by_index
-- Walks the space's index (`indexes.py`) until enough rows pass the gate; half precision chooses who is looked at again.
WITH near AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, v.embedding
    FROM @vectors AS v JOIN @memories AS m ON m.space = %(space)s AND m.row = v.row
    WHERE v.space = %(space)s AND vector_dims(v.embedding) = /* dimension */ {gate}
    ORDER BY v.embedding::halfvec(/* dimension */) <#> %(vector)s::halfvec(/* dimension */) LIMIT %(limit)s
) SELECT NULL, NULL, n.row, n.created_at, n.id, n.embedding FROM near AS n

-- name: frequencies
SELECT f.token, f.rows FROM @vocabulary AS f WHERE f.space = %(space)s AND f.token = ANY(%(tokens)s)

-- name: matching
-- The sum decides who is looked at again; the score itself is worked out as every store does it.
WITH hits AS (
    SELECT p.row, sum(w.weight * (p.count * 2.2 / (p.count + 1.2 * (0.25 + 0.75 * p.length / %(mean)s)))) AS score
    FROM unnest(%(tokens)s::bigint[], %(weights)s::double precision[]) AS w (token, weight)
    JOIN @postings AS p ON p.space = %(space)s AND p.token = w.token GROUP BY p.row
), scored AS MATERIALIZED (
    SELECT m.row, m.created_at, m.id, h.score FROM hits AS h JOIN @memories AS m ON m.row = h.row
    WHERE m.space = %(space)s {gate}
), best AS (
    SELECT c.* FROM scored AS c ORDER BY c.score DESC, c.created_at DESC, c.id LIMIT %(limit)s
)
SELECT t.count, t.low, t.mean, b.row, b.created_at, b.id
FROM (SELECT count(*) AS count, min(c.score) AS low, avg(c.score) AS mean FROM scored AS c) AS t
LEFT JOIN best AS b ON true

-- name: postings_of_rows
SELECT p.row, p.token, p.count, p.length FROM @postings AS p
WHERE p.space = %(space)s AND p.token = ANY(%(tokens)s) AND p.row = ANY(%(rows)s)

-- name: known_entities
SELECT w.place FROM unnest(%(entities)s::uuid[]) WITH ORDINALITY AS w (entity, place)
WHERE EXISTS (SELECT 1 FROM @entities AS e WHERE e.space = %(space)s AND e.entity = w.entity)

-- name: setting
SELECT s.value FROM @settings AS s WHERE s.space = %(space)s AND s.name_key = %(name)s

-- name: settings
SELECT s.name, s.value FROM @settings AS s WHERE s.space = %(space)s ORDER BY s.name

-- name: journal_columns
-- A fragment.
j.sequence, j.at, j.action, j.memory_id, j.actor, j.reason, j.before, j.after

-- name: journal_of_all
SELECT {journal_columns} FROM @journal AS j WHERE j.space = %(space)s AND j.sequence > %(after)s
ORDER BY j.sequence LIMIT %(limit)s

-- name: journal_of_one
SELECT {journal_columns} FROM @journal AS j
WHERE j.space = %(space)s AND j.memory_key = %(memory)s AND j.sequence > %(after)s
ORDER BY j.sequence LIMIT %(limit)s

-- name: finding_columns
-- A fragment.
f.id, f.at, f.kind, f.status, f.memory_id, f.other_id, f.body

-- name: finding_by_id
SELECT {finding_columns} FROM @findings AS f WHERE f.space = %(space)s AND f.id_key = %(finding)s

-- name: findings
SELECT {finding_columns} FROM @findings AS f
WHERE f.space = %(space)s AND (%(kind)s::text IS NULL OR f.kind = %(kind)s::text)
    AND (%(status)s::text IS NULL OR f.status = %(status)s::text)
    AND (%(about)s::uuid IS NULL OR f.memory_key = %(about)s::uuid OR f.other_key = %(about)s::uuid)
    AND f.at <= %(until)s AND (f.at < %(until)s OR f.id > %(after)s::text COLLATE "C")
ORDER BY f.at DESC, f.id LIMIT %(limit)s

-- name: recall_columns
-- A fragment.
l.id, l.at, l.policy, l.cue, l.ids, l.scores, l.cue_vector, l.used, l.outcome

-- name: recall_by_id
SELECT {recall_columns} FROM @ledger AS l WHERE l.space = %(space)s AND l.id_key = %(recall)s

-- name: recalls
SELECT {recall_columns} FROM @ledger AS l
WHERE l.space = %(space)s AND (%(since)s::bigint IS NULL OR l.at >= %(since)s::bigint)
    AND (%(policy)s::text IS NULL OR l.policy = %(policy)s::text) AND l.at <= %(until)s
    AND (l.at < %(until)s OR l.sequence < (
        SELECT s.sequence FROM @ledger AS s WHERE s.space = %(space)s AND s.id_key = %(after)s
    ))
ORDER BY l.at DESC, l.sequence DESC LIMIT %(limit)s

-- name: asked_since
SELECT l.id, l.cue, l.cue_vector FROM @ledger AS l
WHERE l.space = %(space)s AND l.at >= %(since)s AND l.policy = %(policy)s
ORDER BY l.at DESC, l.sequence DESC LIMIT %(limit)s

-- name: row_of
-- What `replace` and `erase` must know of what was.
SELECT m.row, m.tags, m.entities, m.metadata, t.terms FROM @memories AS m
LEFT JOIN @terms AS t ON t.space = %(space)s AND t.row = m.row
WHERE m.space = %(space)s AND m.id_key = %(id)s

-- name: ids_among
SELECT m.id FROM @memories AS m WHERE m.space = %(space)s AND m.id_key = ANY(%(keys)s)

-- name: insert_memories
-- Each binding is a list: one entry for each row. An array of arrays has no entries of its own, so lists of keys are text.
INSERT INTO @memories (
    space, row, id_key, key_key, session_key, derived_keys, id, created_at, recorded_at, kind, importance, trust,
    pinned, permanent, valid_from, valid_until, superseded_at, suppressed_at, updated_at, session, recurs, key,
    source, speaker, superseded_by, supersedes, derived_from, tags, entities, metadata, text
)
SELECT
    %(space)s, w.row, w.id_key, w.key_key, w.session_key, w.derived_keys::uuid[], w.id, w.created_at, w.recorded_at,
    w.kind, w.importance, w.trust, w.pinned, w.permanent, w.valid_from, w.valid_until, w.superseded_at,
    w.suppressed_at, w.updated_at, w.session, w.recurs, w.key, w.source, w.speaker, w.superseded_by, w.supersedes,
    w.derived_from, w.tags, w.entities, w.metadata, w.text
FROM unnest(
    %(row)s::bigint[], %(id_key)s::uuid[], %(key_key)s::uuid[], %(session_key)s::uuid[], %(derived_keys)s::text[],
    %(id)s::text[], %(created_at)s::bigint[], %(recorded_at)s::bigint[], %(kind)s::text[],
    %(importance)s::double precision[], %(trust)s::double precision[], %(pinned)s::boolean[],
    %(permanent)s::boolean[], %(valid_from)s::bigint[], %(valid_until)s::bigint[], %(superseded_at)s::bigint[],
    %(suppressed_at)s::bigint[], %(updated_at)s::bigint[], %(session)s::text[], %(recurs)s::text[], %(key)s::text[],
    %(source)s::text[], %(speaker)s::text[], %(superseded_by)s::text[], %(supersedes)s::text[],
    %(derived_from)s::text[], %(tags)s::text[], %(entities)s::text[], %(metadata)s::text[], %(text)s::text[]
) AS w (
    row, id_key, key_key, session_key, derived_keys, id, created_at, recorded_at, kind, importance, trust, pinned,
    permanent, valid_from, valid_until, superseded_at, suppressed_at, updated_at, session, recurs, key, source,
    speaker, superseded_by, supersedes, derived_from, tags, entities, metadata, text
)

-- name: replace_memory
UPDATE @memories AS m SET
    key_key = %(key_key)s, session_key = %(session_key)s, derived_keys = %(derived_keys)s::text::uuid[],
    created_at = %(created_at)s, recorded_at = %(recorded_at)s,
    kind = %(kind)s, importance = %(importance)s, trust = %(trust)s, pinned = %(pinned)s, permanent = %(permanent)s,
    valid_from = %(valid_from)s, valid_until = %(valid_until)s, superseded_at = %(superseded_at)s,
    suppressed_at = %(suppressed_at)s, updated_at = %(updated_at)s, session = %(session)s, recurs = %(recurs)s,
    key = %(key)s, source = %(source)s, speaker = %(speaker)s, superseded_by = %(superseded_by)s,
    supersedes = %(supersedes)s, derived_from = %(derived_from)s, tags = %(tags)s, entities = %(entities)s,
    metadata = %(metadata)s, text = %(text)s
WHERE m.space = %(space)s AND m.row = %(row)s

-- name: delete_memory
DELETE FROM @memories AS m WHERE m.space = %(space)s AND m.row = %(row)s

-- name: set_vectors
INSERT INTO @vectors (space, row, embedding)
SELECT %(space)s, w.row, w.vector FROM unnest(%(row)s::bigint[], %(vector)s::vector[]) AS w (row, vector)
ON CONFLICT (space, row) DO UPDATE SET embedding = excluded.embedding

-- name: delete_vector
DELETE FROM @vectors AS v WHERE v.space = %(space)s AND v.row = %(row)s

-- name: stage_vector
INSERT INTO @staged (space, row, embedding)
SELECT %(space)s, m.row, %(vector)s FROM @memories AS m WHERE m.space = %(space)s AND m.id_key = %(id)s
ON CONFLICT (space, row) DO UPDATE SET embedding = excluded.embedding

-- name: unstage_vector
DELETE FROM @staged AS v WHERE v.space = %(space)s AND v.row = %(row)s

-- name: staged_dimension
SELECT vector_dims(v.embedding) FROM @staged AS v WHERE v.space = %(space)s LIMIT 1

-- name: derived_from_any
SELECT {memory_columns} FROM {with_access}
WHERE m.space = %(space)s AND m.derived_keys IS NOT NULL AND m.derived_keys && %(keys)s
ORDER BY m.created_at DESC, m.id

-- name: unstaged
SELECT {memory_columns} FROM {with_access}
WHERE m.space = %(space)s
    AND NOT EXISTS (SELECT 1 FROM @staged AS v WHERE v.space = %(space)s AND v.row = m.row)
ORDER BY m.row LIMIT %(limit)s

-- name: count_unstaged
SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s
    AND NOT EXISTS (SELECT 1 FROM @staged AS v WHERE v.space = %(space)s AND v.row = m.row)

-- name: switch_vectors
UPDATE @vectors AS v SET embedding = n.embedding FROM @staged AS n
WHERE v.space = %(space)s AND n.space = %(space)s AND n.row = v.row

-- name: discard_staged
DELETE FROM @staged AS v WHERE v.space = %(space)s

-- name: insert_terms
INSERT INTO @terms (space, row, terms)
SELECT %(space)s, w.row, w.terms FROM unnest(%(row)s::bigint[], %(terms)s::text[]) AS w (row, terms)
ON CONFLICT (space, row) DO UPDATE SET terms = excluded.terms

-- name: delete_terms
DELETE FROM @terms AS t WHERE t.space = %(space)s AND t.row = %(row)s

-- name: insert_postings
INSERT INTO @postings (space, token, row, count, length)
SELECT %(space)s, w.token, w.row, w.count, w.length FROM unnest(
    %(tokens)s::bigint[], %(rows)s::bigint[], %(counts)s::integer[], %(lengths)s::integer[]
) AS w (token, row, count, length)

-- name: delete_postings
DELETE FROM @postings AS p WHERE p.space = %(space)s AND p.row = %(row)s AND p.token = ANY(%(tokens)s)

-- name: more_vocabulary
INSERT INTO @vocabulary AS f (space, token, rows)
SELECT %(space)s, w.token, w.rows FROM unnest(%(tokens)s::bigint[], %(counts)s::bigint[]) AS w (token, rows)
ON CONFLICT (space, token) DO UPDATE SET rows = f.rows + excluded.rows

-- name: less_vocabulary
UPDATE @vocabulary AS f SET rows = f.rows - 1 WHERE f.space = %(space)s AND f.token = ANY(%(tokens)s)

-- name: trim_vocabulary
DELETE FROM @vocabulary AS f WHERE f.space = %(space)s AND f.token = ANY(%(tokens)s) AND f.rows = 0

-- name: insert_tags
INSERT INTO @tags (space, tag, row)
SELECT %(space)s, w.tag, w.row FROM unnest(%(tag)s::uuid[], %(row)s::bigint[]) AS w (tag, row)

-- name: delete_tags
DELETE FROM @tags AS t WHERE t.space = %(space)s AND t.row = %(row)s AND t.tag = ANY(%(keys)s)

-- name: insert_metadata
INSERT INTO @metadata (space, entry, row)
SELECT %(space)s, w.entry, w.row FROM unnest(%(entry)s::uuid[], %(row)s::bigint[]) AS w (entry, row)

-- name: delete_metadata
DELETE FROM @metadata AS d WHERE d.space = %(space)s AND d.row = %(row)s AND d.entry = ANY(%(keys)s)

-- name: insert_entities
INSERT INTO @entities (space, entity, row, name)
SELECT %(space)s, w.entity, w.row, w.name
FROM unnest(%(entity)s::uuid[], %(row)s::bigint[], %(name)s::text[]) AS w (entity, row, name)

-- name: delete_entities
DELETE FROM @entities AS e WHERE e.space = %(space)s AND e.row = %(row)s

-- name: set_access
INSERT INTO @accesses (space, row, last_at, count, pending_at, recent)
SELECT %(space)s, m.row, %(last_at)s, %(count)s, %(pending_at)s, %(recent)s
FROM @memories AS m WHERE m.space = %(space)s AND m.id_key = %(id)s
ON CONFLICT (space, row) DO UPDATE SET
    last_at = excluded.last_at, count = excluded.count, pending_at = excluded.pending_at, recent = excluded.recent

-- name: delete_access
DELETE FROM @accesses AS a WHERE a.space = %(space)s AND a.row = %(row)s

-- name: insert_journal
INSERT INTO @journal (space, sequence, at, memory_key, action, memory_id, actor, reason, before, after)
SELECT
    %(space)s, w.sequence, w.at, w.memory_key, w.action, w.memory_id, w.actor, w.reason, w.before, w.after
FROM unnest(
    %(sequence)s::bigint[], %(at)s::bigint[], %(memory_key)s::uuid[], %(action)s::text[], %(memory_id)s::text[],
    %(actor)s::text[], %(reason)s::text[], %(before)s::text[], %(after)s::text[]
) AS w (sequence, at, memory_key, action, memory_id, actor, reason, before, after)

-- name: redact_journal
UPDATE @journal AS j SET reason = '', before = NULL, after = NULL
WHERE j.space = %(space)s AND j.memory_key = %(memory)s

-- name: put_finding
INSERT INTO @findings (
    space, id_key, id, at, kind, status, memory_key, memory_id, other_key, other_id, body
) VALUES (
    %(space)s, %(id_key)s, %(id)s, %(at)s, %(kind)s, %(status)s, %(memory_key)s, %(memory_id)s, %(other_key)s,
    %(other_id)s, %(body)s
)
ON CONFLICT (space, id_key) DO UPDATE SET
    at = excluded.at, kind = excluded.kind, status = excluded.status, memory_key = excluded.memory_key,
    memory_id = excluded.memory_id, other_key = excluded.other_key, other_id = excluded.other_id, body = excluded.body

-- name: erase_findings
DELETE FROM @findings AS f WHERE f.space = %(space)s AND (f.memory_key = %(memory)s OR f.other_key = %(memory)s)

-- name: redact_lines
UPDATE @journal AS j SET reason = '', before = NULL, after = NULL
WHERE j.space = %(space)s AND j.sequence = ANY(%(lines)s)

-- name: redact_recalls
UPDATE @ledger AS l SET cue = '', cue_vector = NULL
WHERE l.space = %(space)s AND l.id_key = ANY(%(recalls)s)

-- name: insert_recall
INSERT INTO @ledger (space, sequence, id_key, id, at, policy, cue, ids, scores, cue_vector, used, outcome)
VALUES (
    %(space)s, %(sequence)s, %(id_key)s, %(id)s, %(at)s, %(policy)s, %(cue)s, %(ids)s, %(scores)s, %(cue_vector)s,
    %(used)s, %(outcome)s
)

-- name: note_feedback
UPDATE @ledger AS l SET used = %(used)s, outcome = coalesce(%(outcome)s, l.outcome)
WHERE l.space = %(space)s AND l.id_key = %(recall)s

-- name: count_recalls
SELECT count(*), count(*) FILTER (WHERE l.at < %(before)s) FROM @ledger AS l WHERE l.space = %(space)s

-- name: drop_old_recalls
DELETE FROM @ledger AS l WHERE l.space = %(space)s AND l.at < %(before)s

-- name: drop_surplus_recalls
DELETE FROM @ledger AS l WHERE l.space = %(space)s AND l.sequence IN (
    SELECT o.sequence FROM @ledger AS o WHERE o.space = %(space)s ORDER BY o.at DESC, o.sequence DESC OFFSET %(keep)s
)

-- name: set_setting
INSERT INTO @settings (space, name_key, name, value) VALUES (%(space)s, %(key)s, %(name)s, %(value)s)
ON CONFLICT (space, name_key) DO UPDATE SET value = excluded.value

-- name: drop_setting
DELETE FROM @settings AS s WHERE s.space = %(space)s AND s.name_key = %(key)s

-- name: job_columns
-- A fragment: what `jobs.decode` reads, in its order.
j.id, j.kind, j.state, j.created_at, j.due_at, j.attempts, j.lease, j.memories, j.error, j.payload

-- name: put_job
INSERT INTO @jobs (
    space, id_key, sequence, id, kind, state, created_at, due_at, attempts, lease, memories, error, payload
) VALUES (
    %(space)s, %(id_key)s, %(sequence)s, %(id)s, %(kind)s, %(state)s, %(created_at)s, %(due_at)s, %(attempts)s,
    %(lease)s, %(memories)s, %(error)s, %(payload)s
) ON CONFLICT (space, id_key) DO UPDATE SET
    kind = excluded.kind, state = excluded.state, created_at = excluded.created_at, due_at = excluded.due_at,
    attempts = excluded.attempts, lease = excluded.lease, memories = excluded.memories, error = excluded.error,
    payload = excluded.payload

-- name: link_job
INSERT INTO @job_memories (space, memory_key, job) VALUES (%(space)s, %(memory)s, %(id_key)s)

-- name: unlink_job
DELETE FROM @job_memories AS l WHERE l.space = %(space)s AND l.job = %(id_key)s

-- name: job_by_id
SELECT {job_columns} FROM @jobs AS j WHERE j.space = %(space)s AND j.id_key = %(id_key)s

-- name: due_jobs
SELECT {job_columns} FROM @jobs AS j
WHERE j.space = %(space)s AND j.state <> 'dead' AND j.due_at <= %(now)s AND j.kind = ANY(%(kinds)s)
ORDER BY j.due_at, j.sequence LIMIT %(limit)s

-- name: listed_jobs
SELECT {job_columns} FROM @jobs AS j
WHERE j.space = %(space)s AND (%(state)s::text IS NULL OR j.state = %(state)s::text)
    AND (%(kind)s::text IS NULL OR j.kind = %(kind)s::text)
ORDER BY j.sequence LIMIT %(limit)s

-- name: drop_job
DELETE FROM @jobs AS j WHERE j.space = %(space)s AND j.id_key = %(id_key)s

-- name: drop_jobs_about
DELETE FROM @jobs AS j WHERE j.space = %(space)s AND j.id_key IN (
    SELECT l.job FROM @job_memories AS l WHERE l.space = %(space)s AND l.memory_key = %(memory)s
)

-- name: unlink_jobs_about
DELETE FROM @job_memories AS l WHERE l.space = %(space)s AND l.job IN (
    SELECT o.job FROM @job_memories AS o WHERE o.space = %(space)s AND o.memory_key = %(memory)s
)

-- name: list_spaces
-- The one statement that asks for no space; row-level security lets it see this table alone (`retentive.listing`).
SELECT s.space, s.change, s.last_sequence FROM @spaces AS s ORDER BY s.space

-- name: filed_columns
-- What a memory says of itself that is filed in tables of its own.
SELECT m.row, m.tags, m.entities, m.metadata FROM @memories AS m
WHERE m.space = %(space)s AND m.row > %(after)s ORDER BY m.row LIMIT %(limit)s

-- name: tags_between
SELECT t.row, t.tag FROM @tags AS t WHERE t.space = %(space)s AND t.row > %(after)s AND t.row <= %(last)s

-- name: entities_between
SELECT e.row, e.entity FROM @entities AS e WHERE e.space = %(space)s AND e.row > %(after)s AND e.row <= %(last)s

-- name: metadata_between
SELECT d.row, d.entry FROM @metadata AS d WHERE d.space = %(space)s AND d.row > %(after)s AND d.row <= %(last)s

-- name: complaints
-- What can be wrong with a space, counted.
SELECT
    (SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s AND NOT EXISTS (
        SELECT 1 FROM @vectors AS v WHERE v.space = %(space)s AND v.row = m.row)),
    (SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s AND NOT EXISTS (
        SELECT 1 FROM @terms AS t WHERE t.space = %(space)s AND t.row = m.row)),
    (SELECT count(*) FROM @vectors AS v WHERE v.space = %(space)s AND vector_dims(v.embedding) <> (
        SELECT s.dimension FROM @spaces AS s WHERE s.space = %(space)s)),
    (SELECT count(*) FROM @memories AS m WHERE m.space = %(space)s),
    (SELECT coalesce(sum(p.count), 0) FROM @postings AS p WHERE p.space = %(space)s),
    (SELECT count(*) FROM (
        SELECT p.token, count(*) AS rows FROM @postings AS p WHERE p.space = %(space)s GROUP BY p.token
    ) AS c FULL JOIN (
        SELECT f.token, f.rows FROM @vocabulary AS f WHERE f.space = %(space)s
    ) AS g ON g.token = c.token WHERE c.rows IS DISTINCT FROM g.rows),
    (SELECT count(*) FROM @accesses AS a WHERE a.space = %(space)s AND NOT EXISTS (
        SELECT 1 FROM @memories AS m WHERE m.space = %(space)s AND m.row = a.row)),
    (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.rolname = current_user)

-- name: drop_memories
DELETE FROM @memories AS x WHERE x.space = %(space)s

-- name: drop_accesses
DELETE FROM @accesses AS x WHERE x.space = %(space)s

-- name: drop_vectors
DELETE FROM @vectors AS x WHERE x.space = %(space)s

-- name: drop_staged
DELETE FROM @staged AS x WHERE x.space = %(space)s

-- name: drop_tags
DELETE FROM @tags AS x WHERE x.space = %(space)s

-- name: drop_metadata
DELETE FROM @metadata AS x WHERE x.space = %(space)s

-- name: drop_entities
DELETE FROM @entities AS x WHERE x.space = %(space)s

-- name: drop_terms
DELETE FROM @terms AS x WHERE x.space = %(space)s

-- name: drop_postings
DELETE FROM @postings AS x WHERE x.space = %(space)s

-- name: drop_vocabulary
DELETE FROM @vocabulary AS x WHERE x.space = %(space)s

-- name: drop_journal
DELETE FROM @journal AS x WHERE x.space = %(space)s

-- name: drop_ledger
DELETE FROM @ledger AS x WHERE x.space = %(space)s

-- name: drop_findings
DELETE FROM @findings AS x WHERE x.space = %(space)s

-- name: drop_settings
DELETE FROM @settings AS x WHERE x.space = %(space)s

-- name: drop_jobs
DELETE FROM @jobs AS x WHERE x.space = %(space)s

-- name: drop_job_memories
DELETE FROM @job_memories AS x WHERE x.space = %(space)s

-- name: drop_spaces
DELETE FROM @spaces AS x WHERE x.space = %(space)s
