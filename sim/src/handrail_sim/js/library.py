"""The globals that every context has. Each family of them is a module; this one hangs them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail_sim.js import lib_arrays, lib_collections, lib_data, lib_objects, lib_promises, lib_texts

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm

_FAMILIES: tuple[Callable[[Realm], None], ...] = (
    lib_objects.furnish,
    lib_data.furnish,
    lib_arrays.furnish,
    lib_texts.furnish,
    lib_collections.furnish,
    lib_promises.furnish,
)


def furnish(realm: Realm) -> None:
    """Fill a realm that has nothing but its prototypes."""
    realm.globals.put("globalThis", realm.globals)
    for family in _FAMILIES:
        family(realm)
