"""What people tell the desk to remember about an agent's own dialogs, kept where all answers are kept."""

from __future__ import annotations

from handrail.desk.dialogs import Recall, Remember
from handrail.engine.permissions import Permissions


def remember_in(permissions: Permissions) -> Remember:
    """Under `agent:…` only: policy never reads such a key."""

    def remember(key: str, allow: bool) -> None:
        permissions.remember_for_agent(*_parts(key), allow)

    return remember


def recall_from(permissions: Permissions) -> Recall:
    """The context's own answer first, then the tool's."""
    return lambda key: permissions.lookup_for_agent(*_parts(key))


def _parts(key: str) -> tuple[str, str, str | None]:
    """Agent, tool and context of `agent:<id>:<tool>[:context]`."""
    _, agent, tool, *context = key.split(":", 3)
    return _plain(agent), _plain(tool), context[0] if context else None


def _plain(part: str) -> str:
    return part.replace("%3A", ":").replace("%25", "%")
