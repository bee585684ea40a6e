"""The `handrail` command: hands itself to the daemon of this home, or runs in this process.

Nothing is imported here that takes time.
"""

from __future__ import annotations

import sys

ALONE = frozenset(
    "demo doctor bug-report connect sim record watch witness agent eval fleet completion daemon "  # noqa: SIM905
    "check tree diff policy journal flow run".split()
)
"""Commands that own their process or work on the caller's files. The daemon refuses them as well."""
NEVER_STARTS = frozenset(
    "actions approvals approve reject devices desk take-over hand-back stop".split()  # noqa: SIM905
)
"""Commands that use the daemon where one runs, and do not start one."""


def main() -> None:
    words = sys.argv[1:]
    is_simulated = "--sim" in words and words[0] not in ("mcp", "serve")
    if words and words[0] not in ALONE and words[:2] != ["mcp", "install"] and not is_simulated:
        from handrail.cli.client import run_in_daemon  # noqa: PLC0415

        is_question = words[0].startswith("-") or not {"-h", "--help"}.isdisjoint(words)
        run_in_daemon(starts=not is_question and words[0] not in NEVER_STARTS)
    from handrail.cli.program import run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
