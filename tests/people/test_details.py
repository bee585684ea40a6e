"""What an action's class says of its details is what they are: every action, on the simulated phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.details import Details
from handrail.protocol.envelope import Envelope
from handrail.sync import BlockingDesk, BlockingPhone, desk, runtime
from handrail.sync.openers import OpenBlock
from handrail.waiting import beside
from handrail_sim.adbd.server import serve
from handrail_sim.clock import SystemClock
from handrail_sim.phone import Phone
from tests.driver.test_emulator_doors import free_pair
from tests.people.story import (
    allow_all,
    calls_of_two_fingers,
    config_of,
    desk_calls,
    device_calls,
    opened,
    page_with_a_person,
)


def adapter(model: Any) -> TypeAdapter[Any]:
    """The model with nothing unknown in it."""
    model.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    return TypeAdapter(model)


def judged(envelope: Envelope[Any]) -> None:
    model: Any = ACTIONS[envelope.action_type].details
    if envelope.details is None:
        assert not model.__required_keys__, f"{envelope.action_type} told nothing"
    else:
        adapter(model).validate_python(envelope.details)


def played(face: BlockingPhone | BlockingDesk, calls: Any) -> set[str]:
    done = set()
    for name, fields in calls:
        envelope = getattr(face, name)(**fields)
        judged(envelope)
        done.add(envelope.action_type)
    return done


def test_every_action_on_a_phone_tells_what_its_class_says(tmp_path: Path) -> None:
    allow_all(tmp_path / "home")
    with opened(tmp_path / "home") as phone:
        done = played(phone, device_calls(tmp_path))
    emulator = OpenBlock(serve([Phone(clock=SystemClock())], port=free_pair(), emulator=True))
    try:
        with runtime(config_of(tmp_path / "home")) as home:
            done |= played(home.session(emulator.value[0].address, helper="none"), calls_of_two_fingers())
    finally:
        emulator.close()
    assert set(ACTIONS) - set(DESK_ACTIONS) - done == {"hover"}  # a finger can't


def test_every_action_on_a_desk_tells_what_its_class_says(tmp_path: Path) -> None:
    with desk(tmp_path / "home") as here:
        person = OpenBlock(beside(page_with_a_person(here._desk), "a person at the desk"))
        try:
            done = played(here, desk_calls())
        finally:
            person.close()
    assert set(DESK_ACTIONS) - done == set()


@pytest.mark.parametrize("extra", [{"strange": 1}, {"refs": "many"}])
def test_the_judge_itself_finds_what_is_unknown_or_of_another_type(extra: dict[str, Any]) -> None:
    told = {"revision": "r1", "fingerprint": "x", "text": "", **extra}
    with pytest.raises(ValidationError):
        adapter(ACTIONS["get_ui_tree"].details).validate_python(told)


def test_every_class_names_details_that_hold_what_all_have() -> None:
    shared = Details.__annotations__.keys()
    for kind, cls in ACTIONS.items():
        assert is_typeddict(cls.details), kind
        assert cls.details.__annotations__.keys() >= shared, kind
