"""The `handrail` command: who does it is decided here, before anything is imported that takes time.

What needs a phone goes to the resident process of this home; the rest, and whatever that one can't do exactly
alike, is done here.
"""

from __future__ import annotations

import sys

ALONE = frozenset(
    "demo doctor bug-report connect sim record watch witness mcp serve agent eval fleet completion "  # noqa: SIM905
    "daemon".split()
)
"""What lasts, or is about this process itself: it has nothing to win by being handed over."""
SHORT = frozenset(
    "act actions check tree diff devices approvals approve reject policy take-over hand-back stop journal "  # noqa: SIM905
    "desk flow".split()
)
"""What a resident process does if there is one. Any other word is an action, or `run`: it starts one."""


def main() -> None:
    """The console script."""
    words = sys.argv[1:]
    is_posix = sys.platform != "win32"  # elsewhere there is no process to hand it to
    if is_posix and words and words[0] not in ALONE and not words[0].startswith("-"):
        from handrail.cli.hand_over import hand_over  # noqa: PLC0415

        is_reading = not {"-h", "--help", "--sim"}.isdisjoint(words)
        hand_over(starts=words[0] not in SHORT and not is_reading)
    from handrail.cli.program import run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
