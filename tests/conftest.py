"""Stories that are told on more than one kind of phone."""

from __future__ import annotations

import pytest

from handrail_sim.iphone.phone import BUNDLES, PACKAGES, SPRINGBOARD
from tests.scenario import world


@pytest.fixture(params=list(world.PHONES))
def both_phones(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every `world` of the story has this kind of phone. An iPhone's apps keep their names on Android."""
    kind: str = request.param
    monkeypatch.setattr(world, "phone_kind", kind)
    if kind == "ios":
        for bundle in [bundle for bundle in PACKAGES if bundle != SPRINGBOARD]:
            monkeypatch.delitem(BUNDLES, PACKAGES[bundle])
            monkeypatch.delitem(PACKAGES, bundle)
    return kind
