"""The document as a page for people: plain HTML without script, so that it works offline and under a strict policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font: 0.9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid; border-radius: 0.25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.5rem; border-bottom: 1px solid; }
h3 code { font-weight: bold; }
"""


def page(document: Mapping[str, Any]) -> str:
    """Return the page."""
    info = document["info"]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(info['title'])} {escape(info['version'])}</title>",
        '<link rel="stylesheet" href="/docs/style.css"></head><body>',
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        '<p><a href="/openapi.json">openapi.json</a></p>',
    ]
    for tag in document["tags"]:
        parts += [f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>", *_tagged(document, tag["name"])]
    return "\n".join([*parts, "</body></html>\n"])


def _tagged(document: Mapping[str, Any], tag: str) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{escape(operation["operationId"])}">'
    yield f"<h3><code>{method} {escape(path)}</code></h3><p>{escape(operation['summary'])}."
    yield f"{escape(operation.get('description', ''))}</p>"
    yield from _table("Parameter", ((one["name"], one["description"]) for one in operation.get("parameters", ())))
    for content in operation.get("requestBody", {}).get("content", {}).values():
        fields = content["schema"].get("properties", {})
        yield from _table("Field", ((name, _told(schema)) for name, schema in fields.items()))
        yield from _example(content)
    for status, answer in operation["responses"].items():
        for content in answer.get("content", {}).values() if status.startswith("2") else ():
            yield from _example(content)
    yield "</section>"


def _told(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "any")
    return f"{' or '.join([kind] if isinstance(kind, str) else kind)}: {schema.get('description', '')}"


def _table(head: str, rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    cells = "".join(f"<tr><td><code>{escape(name)}</code></td><td>{escape(said)}</td></tr>" for name, said in rows)
    if cells:
        yield f"<table><thead><tr><th>{head}</th><th>Meaning</th></tr></thead><tbody>{cells}</tbody></table>"


def _example(content: Mapping[str, Any]) -> Iterator[str]:
    if "example" in content:
        yield f"<pre>{escape(json.dumps(content['example'], indent=2, ensure_ascii=False))}</pre>"
