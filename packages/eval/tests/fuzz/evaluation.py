"""Every shipped template with twenty seeds.

    python packages/eval/tests/fuzz/evaluation.py [FILE] [SEEDS] [PROCESSES]

`handrail eval lint`: references pass, whoever knows nothing fails, no check is vacuous. FILE keeps what is
proved; killed or stopped, it goes on there, and a template is proved anew when it or the code has changed.
Then every reference once more in an environment for training, which must come to the same verdict.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from handrail_eval.command import evaluate
from handrail_eval.load import load_templates

sys.path.insert(0, str(Path(__file__).parents[4]))

from packages.eval.tests.env.test_same_verdict import test_a_reference_gets_the_same_verdict


def main() -> None:
    given = dict(enumerate(sys.argv[1:]))
    file = given.get(0) or str(Path(tempfile.gettempdir()) / "handrail-proved.jsonl")
    words = ["lint", "--resume", file, "--seeds", given.get(1, "1..20"), "-j", given.get(2, "2")]
    began = time.monotonic()
    try:
        evaluate(words, prog_name="handrail eval")
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        print(f"{(time.monotonic() - began) / 60:.1f} minutes; proofs are in {file}")  # noqa: T201
    for template in load_templates():
        test_a_reference_gets_the_same_verdict(template.id)


if __name__ == "__main__":
    main()
