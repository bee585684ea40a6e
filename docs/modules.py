"""Writes `safety/label_words.json`: phrases of `label_words.toml` in the form that labels are compared in.

It is a file so that no process has to compute it before its first tap.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from handrail.safety.labels import EFFECTS, comparable

ROOT = Path(__file__).parent.parent / "src" / "handrail"


def main() -> None:
    for name, text in modules().items():
        (ROOT / name).write_text(text, encoding="utf-8")


def modules() -> dict[str, str]:
    words = tomllib.loads((ROOT / "safety/label_words.toml").read_text(encoding="utf-8"))
    table: dict[str, object] = {"answers": comparable(words["answers"])}
    for effect in EFFECTS:
        languages = words[effect.replace(" ", "_")].values()
        table[effect] = {
            where: comparable(phrase for language in languages for phrase in language.get(where, []))
            for where in ("alone", "with_price", "anywhere")
        }
    return {"safety/label_words.json": json.dumps(table, ensure_ascii=False, indent=1) + "\n"}


if __name__ == "__main__":
    main()
