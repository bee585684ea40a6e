"""`HANDRAIL_LOG`: our own loggers, on standard error, as much as was asked for."""

import subprocess
import sys

import pytest

TALK = """
import logging, sys
from handrail.cli.output import log_to_stderr
log_to_stderr(sys.argv[1])
logging.getLogger("handrail.engine").debug("our detail")
logging.getLogger("handrail.engine").warning("our warning")
logging.getLogger("asyncio").debug("a stranger's detail")
"""


@pytest.mark.parametrize(
    ("level", "heard"),
    [
        ("debug", ["our detail", "our warning"]),
        (" WARNING ", ["our warning"]),
        ("error", []),
        ("loud", ["our warning"]),
    ],
)
def test_as_much_is_written_as_was_asked_for(level: str, heard: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TALK, level], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == heard
