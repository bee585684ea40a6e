"""The seam: one Protocol for each capability, filled whole by every surface, and no code that acts."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from handrail.android.surface import AndroidSurface
from handrail.desk.desk import DeskSurface
from handrail.errors import Unsupported
from handrail.protocol.actions import ACTIONS
from handrail.protocol.traits import Capability
from handrail.surface import capabilities
from handrail.surface.capabilities import PROTOCOLS
from tests.cases import each

ROOT = Path(capabilities.__file__).parent


class Bare:
    """A driver of which nothing is ever asked."""

    serial = "bare"
    shell = None
    syncs = None
    waits_for_idle = False

    def __getattr__(self, name: str) -> Any:
        async def never(*_: Any) -> None:
            raise AssertionError(name)

        return Bare() if name == "text" else never


def test_there_is_exactly_one_protocol_for_each_capability() -> None:
    assert set(PROTOCOLS) == set(Capability)
    assert len(set(PROTOCOLS.values())) == len(Capability)


@each(
    "which",
    [one for one in Capability if one not in (Capability.WINDOWS, Capability.VALUES, Capability.MOUSE)],
)
def test_a_phone_fills_every_capability_whole(which: Capability) -> None:
    phone = AndroidSurface(None, Bare(), None)  # type: ignore[arg-type]
    filled = phone.need(PROTOCOLS[which])
    for name, method in vars(PROTOCOLS[which]).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            assert callable(getattr(filled, name)), name


def test_a_desk_has_windows_and_says_why_it_has_nothing_else() -> None:
    desk = DeskSurface(None)  # type: ignore[arg-type]
    filled = desk.need(PROTOCOLS[Capability.WINDOWS])
    assert all(callable(getattr(filled, name)) for name in ("apply", "heard", "left"))
    for which in set(Capability) - {Capability.WINDOWS}:
        with pytest.raises(Unsupported, match=f"no {which.value}"):
            desk.need(PROTOCOLS[which])


def test_a_phone_without_a_desk_says_how_to_get_one() -> None:
    phone = AndroidSurface(None, Bare(), None)  # type: ignore[arg-type]
    with pytest.raises(Unsupported) as refused:
        phone.need(PROTOCOLS[Capability.WINDOWS])
    assert "handrail serve" in (refused.value.hint or "")


def test_every_capability_that_an_action_needs_exists_and_what_helps_along_is_needed_by_none() -> None:
    needed = {cls.traits.needs for cls in ACTIONS.values()} - {None}
    assert set(Capability) - needed == {
        Capability.REST,
        Capability.HEALTH,
        Capability.VALUES,
        Capability.VIDEO,
    }


@each("path", sorted(ROOT.glob("*.py")), ids=lambda path: path.name)
def test_the_seam_awaits_nothing(path: Path) -> None:
    assert not [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Await)]
