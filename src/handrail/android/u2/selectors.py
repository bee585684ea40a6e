"""The two selectors that we send to the u2 server; the bits of `mask` say which fields count."""

from __future__ import annotations

from typing import Any

_FOCUSED, _INSTANCE = 0x20000, 0x1000000


def _selector(mask: int, **fields: Any) -> dict[str, Any]:
    return {"mask": mask, "childOrSibling": [], "childOrSiblingSelector": [], **fields}


FOCUSED = _selector(_FOCUSED | _INSTANCE, focused=True, instance=0)
"""With an instance it is searched as it is; without one the server taps the field before it types."""
ANYTHING = _selector(_INSTANCE, instance=0)
"""The first node there is: a two-finger gesture wants an object, and takes its points from us."""
