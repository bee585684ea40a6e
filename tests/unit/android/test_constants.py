"""The numbers of the device surface: each is read somewhere, and equals the vocabulary's default for it."""

from __future__ import annotations

import ast
from pathlib import Path

from handrail.android import constants
from handrail.protocol.observe import GetLogs

SRC = Path(constants.__file__).parents[1]


def test_every_constant_is_read_by_the_program() -> None:
    own = Path(constants.__file__)
    read = {
        node.name if isinstance(node, ast.alias) else node.attr
        for path in SRC.rglob("*.py")
        if path != own
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.alias | ast.Attribute)
    }
    written = {name for name in vars(constants) if name.isupper()} - {"TIMEOUT_MS"}
    assert written - read == set()


def test_a_log_is_read_as_long_as_the_vocabulary_says() -> None:
    assert GetLogs.model_fields["max_lines"].default == constants.LOGCAT_LINES
