"""A gate as conditions on `memories AS m`, and what is bound to them."""

from __future__ import annotations

from typing import Any

from retentive.stores.postgres.keys import entry_of, key_of, keys_of
from retentive.stores.values import micros, storable
from retentive.types import Gate

NOTHING = "AND false"
TAG = "AND EXISTS (SELECT 1 FROM @tags AS t WHERE t.space = %(space)s AND t.tag = %({0})s AND t.row = m.row)"
ENTRY = "AND EXISTS (SELECT 1 FROM @metadata AS d WHERE d.space = %(space)s AND d.entry = %({0})s AND d.row = m.row)"
VALID = """AND (m.valid_from IS NULL OR m.valid_from <= %(g_true)s)
    AND (m.valid_until IS NULL OR m.valid_until > %(g_true)s)"""
PRESENT = "AND m.superseded_at IS NULL AND m.suppressed_at IS NULL"
KNOWN = """AND (m.superseded_at IS NULL OR m.superseded_at > %(g_known)s)
    AND (m.suppressed_at IS NULL OR m.suppressed_at > %(g_known)s)"""


def conditions(gate: Gate) -> tuple[str, dict[str, Any]]:
    """Return a gate as SQL behind the condition on the space, and its bindings."""
    parts: list[str] = []
    bound: dict[str, Any] = {}
    _plain(gate, parts, bound)
    for number, tag in enumerate(sorted(gate.tags)):
        _exists(TAG, f"g_tag{number}", key_of(tag) if storable(tag) else None, parts, bound)
    for number, (name, value) in enumerate(gate.where.items()):
        key = entry_of(name, value) if storable(name) else None
        _exists(ENTRY, f"g_entry{number}", key, parts, bound)
    if not gate.hidden:
        parts += [VALID, PRESENT if gate.known_at is None else KNOWN]
        bound["g_true"] = micros(gate.true_at)
    return "\n    ".join(parts), bound


def _plain(gate: Gate, parts: list[str], bound: dict[str, Any]) -> None:
    if gate.kinds is not None:
        parts.append("AND m.kind = ANY(%(g_kinds)s)")
        bound["g_kinds"] = sorted(filter(storable, gate.kinds))
    if gate.ids is not None:
        parts.append("AND m.id_key = ANY(%(g_ids)s)")
        bound["g_ids"] = keys_of(sorted(gate.ids))
    if gate.since is not None:
        parts.append("AND m.created_at >= %(g_since)s")
        bound["g_since"] = micros(gate.since)
    if gate.until is not None:
        parts.append("AND m.created_at < %(g_until)s")
        bound["g_until"] = micros(gate.until)
    if gate.pinned is not None:
        parts.append("AND m.pinned" if gate.pinned else "AND NOT m.pinned")
    if gate.known_at is not None:
        parts.append("AND m.created_at <= %(g_known)s")
        bound["g_known"] = micros(gate.known_at)


def _exists(template: str, name: str, key: object, parts: list[str], bound: dict[str, Any]) -> None:
    if key is None:
        parts.append(NOTHING)
        return
    parts.append(template.format(name))
    bound[name] = key
