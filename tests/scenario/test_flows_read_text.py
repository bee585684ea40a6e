"""`read_text … into`: what a screen says becomes a variable for the steps after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail.flow.check import check
from handrail.flow.document import loads
from tests.scenario.flow_world import outcomes, run
from tests.scenario.world import play, world

ASYNC_RUNNER = play

NOTES = "com.handrail.notes"
NEW = f"app: {NOTES}\nsteps:\n  - tap: New note\n"


async def test_a_text_is_read_and_typed_and_decides_a_branch(tmp_path: Path) -> None:
    text = NEW + (
        "  - type_text: {target: {id: title}, text: Pears}\n"
        "  - read_text: {target: {id: title}, into: TITLE}\n"
        '  - type_text: {target: {id: body}, text: "Two ${TITLE}"}\n'
        "  - when: ${TITLE}\n"
        "    then:\n"
        "      - tap: Save\n"
        '  - expect_visible: {text_contains: "Two ${TITLE}"}\n'
    )
    async with world(tmp_path) as w:
        record = await run(w, text)
        assert record.outcome == "passed", record.error
        assert "Two Pears" in str(w.app_state(NOTES))


async def test_a_variable_that_nothing_has_filled_yet_is_a_failure_and_not_its_own_name(
    tmp_path: Path,
) -> None:
    text = NEW + (
        '  - type_text: {target: {id: title}, text: "${LATER}"}\n'
        "  - read_text: {target: {id: title}, into: LATER}\n"
    )
    async with world(tmp_path) as w:
        record = await run(w, text)
        assert outcomes(record) == ["passed", "failed"]
        assert record.steps[1].code == "INVALID_ACTION"


async def test_a_secret_on_the_screen_is_not_typed_elsewhere_by_its_name(tmp_path: Path) -> None:
    text = NEW + (
        '  - type_text: {target: {id: title}, text: "${secret:PIN}"}\n'
        "  - read_text: {target: {id: title}, into: SEEN}\n"
        '  - type_text: {target: {id: body}, text: "${SEEN}"}\n'
    )
    async with world(tmp_path, env={"HANDRAIL_SECRET_PIN": "4711-0815"}) as w:
        record = await run(w, text)
        assert outcomes(record) == ["passed", "passed", "passed", "failed"]
        typed = [one for one in w.phone.state()["apps"][NOTES].get("notes", ()) if "4711" in str(one)]
        assert not typed


def test_flow_check_knows_the_variable_and_an_unknown_one_stays_an_error(tmp_path: Path) -> None:
    good = "steps:\n  - read_text: {target: A, into: CODE}\n  - type_text: ${CODE}\n"
    path = tmp_path / "a.yaml"
    path.write_text(good)
    assert check([path])[0].problems == ()
    with pytest.raises(InvalidAction, match="NOPE"):
        loads(good.replace("${CODE}", "${NOPE}")).bind({})
    with pytest.raises(InvalidAction, match="into"):
        loads(good.replace("into: CODE", 'into: "a b"'))
