"""Throws random and damaged input at every parser: `python tests/fuzz/inputs.py --count 200000 --seed 1`.

Whatever comes in, only a `HandrailError` may come out. What is read must also be written again by everything
that writes actions. Prints the slowest input (CPU time of all parsers together); the goal: below 2,000 ms.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from handrail.cli import dialect_commands as check  # noqa: E402
from handrail.cli.dialect_commands import line_of, split_path  # noqa: E402
from handrail.dialects import agentest, interaction, mobile_debug, openpocket  # noqa: E402
from handrail.dialects.registry import NAMES  # noqa: E402
from handrail.errors import HandrailError  # noqa: E402
from handrail.protocol.act import Act  # noqa: E402
from handrail.protocol.content import is_content_update_operation_valid, is_window_content_data  # noqa: E402
from handrail.protocol.flow import Flow, FlowTrace, Step  # noqa: E402
from handrail.protocol.message import CLIENT_MESSAGE, SERVER_MESSAGE  # noqa: E402
from handrail.protocol.read import action_from, invalid_action, read_action, read_json  # noqa: E402
from tests.fuzz.tally import Report, Tally, main  # noqa: E402
from tests.unit.protocol.damage import mutants  # noqa: E402

GOAL_MS = 2_000.0
DIALECTS = NAMES
MODELS: tuple[TypeAdapter[Any], ...] = (
    CLIENT_MESSAGE,
    SERVER_MESSAGE,
    TypeAdapter(Step),
    TypeAdapter(Flow),
    TypeAdapter(FlowTrace),
)


def refused(work: Callable[[], object]) -> bool:
    """True where it refused with an error of ours that says something; any other error is a failure."""
    try:
        work()
    except HandrailError as error:
        json.dumps(error.to_dict())
        assert error.message, error
        assert error.hint, error
        return True
    return False


def validate(adapter: TypeAdapter[Any], data: Any) -> None:
    """A model with pydantic's refusal in our words."""
    try:
        adapter.validate_python(data)
    except ValidationError as error:
        raise invalid_action(error, data) from None


def write(action: Act) -> None:
    """Everything that writes an action must take one that was read."""
    assert action_from(action.to_dict()) == action
    interaction.sentence_without_secret(action)
    refused(lambda: openpocket.write_action(action))
    refused(lambda: interaction.write_tool(action))
    refused(lambda: mobile_debug.write_tool(action))
    refused(lambda: agentest.write_step(Step(action=action)))


def use_bytes(data: bytes) -> None:
    write(read_action(data))


def use_text(text: str) -> None:
    """A model's answer is always a step; the same text may also be an action."""
    step = openpocket.parse_step(text)
    said = step.normalised.to_dict()
    assert ("native" in said) != ("not_executable" in said)
    write(read_action(text))


def use_data(data: Any) -> bool:
    """Parsed JSON through every reader of data; true where one of them took it."""
    normalised = openpocket.normalise(data)
    if normalised.native is not None:
        write(normalised.native)
    readers: list[Callable[[], object]] = [lambda: write(action_from(data))]
    readers += [lambda adapter=adapter: validate(adapter, data) for adapter in MODELS]
    if isinstance(data, Mapping):
        openpocket.parse_step(data)
        readers.append(lambda: write(agentest.read_step(data).action))
        readers += list(_tool_readers(data))
        is_window_content_data(str(data.get("renderer")), data.get("data"))
        is_content_update_operation_valid("text", data.get("operation"))
    return sum(not refused(read) for read in readers) > 0


def _tool_readers(data: Mapping[str, Any]) -> Iterator[Callable[[], object]]:
    name = next((data[key] for key in ("name", "tool", "type") if isinstance(data.get(key), str)), "")
    inner = data.get("arguments")
    arguments = inner if isinstance(inner, Mapping) else data
    yield lambda: write(interaction.read_tool(name, arguments))
    yield lambda: write(mobile_debug.read_tool(name, arguments))
    yield lambda: agentest.read_tool(name, arguments, package="a.b")


def use_command_line(text: str, dialect: str) -> None:
    """What `handrail check` does with a file."""
    for entry in check._split_actions(text, dialect):
        result = check._check_action(entry, dialect, check.conversation_of(dialect), None)
        assert result["ok"] or 1 <= result["line"] <= text.count("\n") + 1


def use(data: bytes, number: int) -> str:
    text = data.decode("utf-8", "surrogateescape")
    taken = not refused(lambda: use_bytes(data))
    refused(lambda: use_text(text))
    refused(lambda: use_command_line(text, DIALECTS[number % len(DIALECTS)]))
    parsed: list[Any] = []
    if refused(lambda: parsed.append(read_json(data))):
        return "no JSON"
    assert 1 <= line_of(text, split_path("expect.all[1].target")) <= text.count("\n") + 1
    return "read" if use_data(parsed[0]) or taken else "refused"


def run(count: int, seed: int, report: Report = str) -> Tally:
    return Tally.of(mutants(count, seed), use, report)


if __name__ == "__main__":
    sys.exit(main(run, __doc__, 200_000, GOAL_MS))
