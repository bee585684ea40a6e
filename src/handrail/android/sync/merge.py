"""Which nameless element gets which host's name. Pure; one that has a name of its own never gets another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from handrail.android.sync.hosts import Host
from handrail.android.sync.placing import Placed, place
from handrail.tree.element.find import elements
from handrail.tree.node import Bounds, Node, Screen

JITTER_PX = 8
LEAST_PART = 0.02
"""Of the element's area that a host must have to name it: an icon of 24 dp in a row as wide as the screen."""


def nameless(screen: Screen, package: str) -> list[Node]:
    """What could use a name: elements of this app that nothing on the screen names, but scroll containers."""
    return [
        element.node
        for element in elements(screen)
        if not element.label and element.kind != "s" and element.node.package_name == package
    ]


def merge(hosts: Sequence[Host], wanting: Sequence[Node], screen: Screen, density: int) -> dict[str, str]:
    """Node id → name: by test id where that is unique, then by place, the smallest elements first."""
    nodes = [node for node in screen.nodes if wanting and node.package_name == wanting[0].package_name]
    names = _by_test_id(hosts, wanting)
    free = [one for one in place(hosts, nodes, density) if one.host.label]
    for node in sorted(wanting, key=lambda node: node.bounds.area):
        if node.id not in names and (found := _tightest(free, node.bounds)) is not None:
            names[node.id] = found.host.label
            free.remove(found)
    return names


def _by_test_id(hosts: Iterable[Host], wanting: Iterable[Node]) -> dict[str, str]:
    hosts = [host for host in hosts if host.test_id and host.label]
    counted = Counter(host.test_id for host in hosts)
    known = {host.test_id: host.label for host in hosts if counted[host.test_id] == 1}
    return {node.id: known[node.id_tail] for node in wanting if node.id_tail in known}


def _tightest(free: Iterable[Placed], bounds: Bounds) -> Placed | None:
    """The host inside that fills most of it; of equals the one that names itself, then the deeper one."""
    around = Bounds(
        bounds.left - JITTER_PX, bounds.top - JITTER_PX, bounds.right + JITTER_PX, bounds.bottom + JITTER_PX
    )
    inside = [one for one in free if around.covers(one.bounds)]
    fitting = [one for one in inside if one.bounds.area >= LEAST_PART * bounds.area]
    return max(fitting, key=lambda one: (one.bounds.area, bool(one.host.said), one.host.depth), default=None)
