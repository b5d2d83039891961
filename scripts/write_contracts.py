"""Write the JSON Schema of each report into the package, after a column or a report has changed.

python scripts/write_contracts.py
"""

from __future__ import annotations

import json
from pathlib import Path

from traceview.contract import contracts

FOLDER = Path(__file__).parents[1] / "traceview" / "contracts"


def text(schema: object) -> str:
    """A schema as its file holds it."""
    return json.dumps(schema, indent=1) + "\n"


def main() -> None:
    """Write the files, and remove those of reports that are no more."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.json"):
        file.unlink()
    for name, schema in contracts().items():
        (FOLDER / f"{name}.json").write_text(text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
