"""Which model answers, by its name: `openai:NAME`, `anthropic:NAME`, or one that needs no network.

The packages of the makers are imported when one of their models is opened, not before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from handrail.agent.model import TRY_MS, AgentModel, Mode, ModelOptions, ToolSet
from handrail.agent.models.offline import Nothing, RandomTaps, open_recording
from handrail.agent.models.scripted import open_script
from handrail.clock import Clock
from handrail.errors import InvalidAction, Unsupported

SPECS = ("openai:NAME", "anthropic:NAME", "scripted:FILE", "recorded:FOLDER", "random[:SEED]", "nothing")


def open_model(  # noqa: PLR0913 - every one is a wish that a caller may leave out
    spec: str,
    *,
    env: Mapping[str, str],
    clock: Clock,
    base_url: str | None = None,
    mode: Mode | None = None,
    sees: bool | None = None,
    stream: bool = False,
    tools: ToolSet | None = None,
    try_ms: float = TRY_MS,
) -> AgentModel:
    """The model of this name. Raises `InvalidAction` with the path `model` or `tools`, or `Unsupported`."""
    kind, _, rest = spec.strip().partition(":")
    if tools is not None and kind not in ("openai", "anthropic"):
        raise InvalidAction(
            f"tools: {spec[:60]!r} has no {tools} tool of its maker",
            path="tools",
            hint="openai:NAME and anthropic:NAME have one; leave --tools out for the others.",
        )
    match kind:
        case "openai" | "anthropic" if rest:
            return _hosted(kind, rest, ModelOptions(base_url, mode, sees, stream, tools, try_ms), env, clock)
        case "scripted" if rest:
            return open_script(Path(rest).expanduser())
        case "recorded" if rest:
            return open_recording(Path(rest).expanduser())
        case "random" if re.fullmatch(r"[0-9]{0,9}", rest):
            return RandomTaps(int(rest or 1))
        case "nothing" if not rest:
            return Nothing()
        case _:
            raise InvalidAction(
                f"model: {spec[:60]!r} is not a model", path="model", hint=f"One of: {', '.join(SPECS)}."
            )


def _hosted(kind: str, name: str, wishes: ModelOptions, env: Mapping[str, str], clock: Clock) -> AgentModel:
    try:
        if wishes.tools == "computer":
            from handrail.agent.models.computer import open_computer  # noqa: PLC0415

            return open_computer(kind, name, wishes, env=env, clock=clock)
        from handrail.agent.models.hosted import open_hosted  # noqa: PLC0415

        return open_hosted(kind, name, wishes, env=env, clock=clock)
    except ImportError as error:
        if (error.name or "").startswith("handrail"):
            raise
        raise Unsupported(
            f"{kind}:{name} needs a package that is not installed: {error.name or error}",
            hint="pip install 'handrail[agent]'",
        ) from None
