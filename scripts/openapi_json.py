"""Write what the TypeScript client takes from the server's table of operations; `--check` says whether it is current.

Types follow with `npm run generate` in that folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from retentive.server.app import OPERATIONS
from retentive.server.openapi import document

CLIENT = Path(__file__).resolve().parents[1] / "clients/typescript"
TARGET, ROUTES = CLIENT / "openapi.json", CLIENT / "src/routes.ts"


def text() -> str:
    described = document(OPERATIONS)
    described["info"]["version"] = "0"  # a release alone changes no type
    return json.dumps(described, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def routes() -> str:
    lines = ["// Written by scripts/openapi_json.py: where each operation is.", "", "export const routes = {"]
    lines += [f'  {operation.name}: ["{operation.method}", "{operation.path}"],' for operation in OPERATIONS]
    return "\n".join([*lines, "} as const;", ""])


def main() -> None:
    wanted = {TARGET: text(), ROUTES: routes()}
    stale = [path for path, content in wanted.items() if not path.is_file() or path.read_text("utf-8") != content]
    if "--check" in sys.argv and stale:
        names = ", ".join(path.name for path in stale)
        sys.exit(f"Not what the server has: {names}. Run scripts/openapi_json.py, then npm run generate in {CLIENT}.")
    for path in stale:
        path.write_text(wanted[path], "utf-8")
        print(f"Wrote {path}")


if __name__ == "__main__":
    main()
