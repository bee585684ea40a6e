"""Which React component drew a view: what an app hangs on its views, and only a debugger gets to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handrail_sim.view.view import View


@dataclass(frozen=True, slots=True)
class Component:
    """A component's name and the props that it was given."""

    name: str
    props: tuple[tuple[str, str], ...] = ()


def drawn_by(name: str, view: View, **props: str) -> View:
    view.tag = Component(name, tuple(sorted(props.items())))
    return view


def component_of(view: View) -> Component | None:
    """None for what is only a part of one."""
    tag: Any = view.tag
    return tag if isinstance(tag, Component) else None
