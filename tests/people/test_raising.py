"""A failure as an exception: which class, what it carries, and who decides that it is one."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from handrail.config import Config
from handrail.errors import ERRORS, ActionRejected, AssertionFailed, ElementNotFound, HandrailError
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.cases import each
from tests.people.story import SETTINGS, config_of, opened
from tests.scenario.world import play, usual_clock, world

ASYNC_RUNNER = play


def failed(code: str, **more: object) -> Envelope:
    told = {
        "action_id": "tap_1_1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "action_type": "tap",
        "semantic": "selection",
        "lifecycle_state": "failed",
        "source_module": "server",
        "success": False,
        "failure_code": code,
        "message": "It went wrong",
        "hint": "Do this",
        "retryable": True,
        "delivery": "unknown",
        **more,
    }
    return Envelope.model_validate(told)


@each("code", sorted(ERRORS))
def test_every_code_raises_its_own_class_with_all_that_the_envelope_says(code: str) -> None:
    envelope = failed(code, details={"candidates": [], "message": "another", "hint": "another"})
    with pytest.raises(HandrailError) as caught:
        envelope.or_raise()
    error = caught.value
    assert type(error) is ERRORS[code]
    assert (error.code, error.message, error.hint) == (code, "It went wrong", "Do this")
    assert (error.delivery, error.retryable) == ("unknown", True)
    assert error.envelope is envelope
    assert error.details["candidates"] == []
    told = "".join(traceback.format_exception(error))
    assert told.endswith("It went wrong\nDo this\nIt may have been delivered: look before you repeat it.\n")


def test_a_success_is_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as phone:
        seen = phone.get_ui_tree()
    assert seen.or_raise() is seen
    assert seen.error is None


def test_expected_and_actual_are_on_the_exception(tmp_path: Path) -> None:
    with opened(tmp_path) as phone:
        phone.start_app(SETTINGS)
        with pytest.raises(AssertionFailed) as caught:
            phone.expect_text("Display", equals="Dismay", timeout_ms=0)
    assert (caught.value.expected, caught.value.actual) == ("Dismay", "Display")


@pytest.mark.parametrize("raises", [False, True])
async def test_one_word_at_the_opening_decides_for_every_form_and_for_run(
    tmp_path: Path, raises: bool
) -> None:
    phone = Phone(clock=usual_clock())
    async with (
        serve([phone], port=0) as [served],
        Runtime.open(config_of(tmp_path), raise_on_failure=raises) as runtime,
    ):
        session = await runtime.session(served.address, helper="none")
        for call in (session.tap("Nowhere"), session.run({"type": "tap", "target": "Nowhere"})):
            try:
                envelope = await call
            except ElementNotFound as error:
                assert raises
                assert error.envelope.failure_code == "ELEMENT_NOT_FOUND"
            else:
                assert not raises
                assert not envelope.success
        assert phone.input_log == []


def test_a_flow_on_a_phone_whose_failures_raise_is_told_as_a_flow(tmp_path: Path) -> None:
    """Its steps are its own: what fails inside is handled there, and the flow's end is what is raised."""
    flow = tmp_path / "one.yaml"
    flow.write_text(
        f"app: {SETTINGS}\nsteps:\n  - tap: Nowhere\n    optional: true\n  - tap: Display\n  - tap: Gone\n"
    )
    with opened(tmp_path / "home") as phone:
        with pytest.raises(ElementNotFound, match=r"Step 3 \(tap Gone\) failed"):
            phone.flow(flow)
        touched = [one for one in phone.simulated.input_log if one["action"] == "down"]
    assert len(touched) == 1


async def test_what_a_person_denies_raises_and_nothing_is_done(tmp_path: Path) -> None:
    async with world(tmp_path, caller=Caller(raises=True)) as w:

        async def no(asked: object, _: object) -> None:
            await w.runtime.approvals.answer(asked.id, False, "the owner")  # type: ignore[attr-defined]

        w.runtime.approvals.notify = no
        with pytest.raises(ActionRejected) as caught:
            await w.session.shell(["reboot"])
        assert caught.value.delivery == "not_delivered"


def test_bad_input_raises_whatever_was_said(tmp_path: Path) -> None:
    assert Config.from_env({}).home  # a home is not needed to be told
    with opened(tmp_path, raise_on_failure=False) as phone:
        with pytest.raises(HandrailError, match="direction"):
            phone.swipe("upwards")  # type: ignore[arg-type]
        assert not phone.tap("Nowhere").success
