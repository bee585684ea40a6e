"""A page may call its fields what it likes: they are read by the browser's own getters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handrail.page.reading import SCRIPT
from tests.browser.stage import Loop, Stage

IDENTIFIERS = sorted(set(re.findall(r"[A-Za-z_]\w*", SCRIPT)))
MANY = 50
FORM = (
    "<form action=/x><h2>Trip</h2><input aria-label=Guests>{}<select aria-label=Room><option>One</select>"
    "<label><input type=checkbox> Late</label><button>Find</button><a href=#>Help</a></form><p>Below"
)


def test_a_page_reads_the_same_whatever_its_fields_are_called(browser: tuple[Loop, Stage]) -> None:
    """Every identifier of the script that reads it, as the name and as the id of a field in a form."""
    assert len(IDENTIFIERS) > 400
    loop, stage = browser
    loop.run(stage.alone())
    plain = loop.run(tree(stage, ()))
    assert len(plain) > 6
    for at in range(0, len(IDENTIFIERS), MANY):
        names = IDENTIFIERS[at : at + MANY]
        if loop.run(tree(stage, names)) != plain:
            assert not [name for name in names if loop.run(tree(stage, [name])) != plain]


async def tree(stage: Stage, names: Sequence[str]) -> list[tuple[object, ...]]:
    """What is read of a form in which fields, and things beside it, are called so."""
    fields = "".join(f"<input type=hidden name={name}><input type=hidden id={name}>" for name in names)
    others = "".join(f"<form hidden name={name}></form><img hidden name={name}>" for name in names)
    await stage.goto(stage.site.put(FORM.format(fields) + others))
    look = await stage.surface.screen_reader.look()
    return [
        (node.class_name, node.role, node.text, node.description, node.flags, node.bounds, node.touch_at)
        for node in look.nodes
    ]
