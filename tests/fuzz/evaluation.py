"""Every shipped template with twenty seeds: `python tests/fuzz/evaluation.py [FILE] [SEEDS] [PROCESSES]`.

`handrail eval lint`: references pass, whoever knows nothing fails, no check is vacuous. FILE keeps what is
proved; killed or stopped, it goes on there, and a template is proved anew when it or the code has changed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from handrail.cli.evaluate import evaluate


def main() -> None:
    given = dict(enumerate(sys.argv[1:]))
    file = given.get(0) or str(Path(tempfile.gettempdir()) / "handrail-proved.jsonl")
    words = ["lint", "--resume", file, "--seeds", given.get(1, "1..20"), "-j", given.get(2, "2")]
    began = time.monotonic()
    try:
        evaluate(words, prog_name="handrail eval")
    finally:
        print(f"{(time.monotonic() - began) / 60:.1f} minutes; proofs are in {file}")  # noqa: T201


if __name__ == "__main__":
    main()
