"""`python -m tests.mcp_conformance.serve`: Handrail's MCP server on HTTP, and the suite's fixtures.

Prints its address on the first line; SIGTERM ends it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from handrail.mcp_server import http
from tests.mcp_conformance.door import door
from tests.mcp_conformance.fixtures import add_fixtures


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with door(Path(home), task_after_ms=300) as d:
            add_fixtures(d.server, d.attendant)
            await http.serve(d.server, "127.0.0.1", 0, None, _say)


def _say(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
