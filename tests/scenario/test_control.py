"""set_value: it converges with few moves, says where it stopped, and never claims what it can't read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail_sim.phone import Phone
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, column, slider, text
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
COMPOSE = "com.handrail.composelab"
CLOCK = "com.google.android.deskclock"
BROWSER = "com.handrail.browser"


class _Dials(Activity):
    """Sliders in units of their own: small, large, in steps, from the right to the left."""

    title = "Dials"

    def on_create(self) -> None:
        self.state.update(small=0.5, large=100.0, step=4.0, mirrored=20.0)

    def build(self) -> View:
        return column(
            self.dial("small", 0.0, 1.0, 0.0, f"{self.state['small']:.2f}"),
            self.dial("large", 0.0, 5000.0, 1.0, f"{self.state['large']:.0f}"),
            self.dial("step", 0.0, 16.0, 4.0, f"{self.state['step']:.0f}"),
            self.dial("mirrored", 0.0, 100.0, 1.0, f"{100 - self.state['mirrored']:.0f}%"),
            height="fill",
        )

    def dial(self, name: str, low: float, high: float, step: float, said: str) -> View:
        def change(value: float) -> None:
            self.state[name] = value

        bar = slider(self.state[name], low, high, change, step, id=name, desc=name.title())
        return column(text(said, id=f"{name}_said"), bar)


class _DialsApp(App):
    package = "com.example.dials"
    label = "Dials"
    version = "1"
    activities = {"MainActivity": _Dials}


async def _display(w: World) -> None:
    await w.open(SETTINGS)
    opened = await w.session.tap("Display", expect="Brightness level")
    assert opened.success, opened.to_json()


def _brightness(w: World) -> int:
    w.phone.catch_up()
    return round(int(w.phone.settings["system"]["screen_brightness"]) * 100 / 255)


@pytest.mark.parametrize("value", [80, 0, 100, 37, 5])
async def test_a_slider_whose_value_stands_beside_it_takes_one_move(w: World, value: int) -> None:
    await _display(w)
    done = await w.session.set_value("Brightness level", value)
    assert done.lifecycle_state == "verified", done.to_json()
    assert done.verification
    assert (done.verification.mode, done.verification.observed) == ("built_in", value)
    assert _brightness(w) == value
    assert done.details["moves"] == 1


async def test_a_slider_that_is_there_already_is_not_touched(w: World) -> None:
    await _display(w)
    touched = len(w.inputs())
    done = await w.session.set_value("Display brightness", "40%")
    assert done.success, done.to_json()
    assert len(w.inputs()) == touched


async def test_a_slider_that_tells_its_value_in_words_converges(tmp_path: Path) -> None:
    """Compose says it as a state, which only a helper can read."""
    async with world(tmp_path / "home", clock=FastClock(10), helper="handrail") as w:
        await w.open(COMPOSE)
        for value in (70, 0, 100, 33):
            done = await w.session.set_value("Volume", value)
            assert done.success, done.to_json()
            assert round(w.phone.tasks.top.state["volume"]) == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "value", "moves"), [("Small", 0.25, 4), ("Large", 3200, 4), ("Step", 12, 4), ("Mirrored", 65, 4)]
)
async def test_scales_are_learned_while_the_thumb_moves(
    tmp_path: Path, name: str, value: float, moves: int
) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=Phone(clock=clock, apps=[_DialsApp])) as w:
        await w.open(_DialsApp.package)
        done = await w.session.set_value(name, value, tolerance=value / 100)
        assert done.success, done.to_json()
        assert done.details["moves"] <= moves


async def test_a_value_between_two_steps_is_refused_with_what_was_tried(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock, phone=Phone(clock=clock, apps=[_DialsApp])) as w:
        await w.open(_DialsApp.package)
        done = await w.session.set_value("Step", 10)
        assert (done.failure_code, done.delivery) == ("CONTROL_CONVERGENCE_FAILED", "delivered")
        assert {8, 12} <= set(done.details["tried"]) <= {0, 4, 8, 12, 16}
        near = await w.session.set_value("Step", 11, tolerance=1.0)
        assert near.success, near.to_json()


async def test_a_value_beyond_the_end_is_refused(w: World) -> None:
    await _display(w)
    done = await w.session.set_value("Display brightness", 140)
    assert done.failure_code == "CONTROL_CONVERGENCE_FAILED"
    assert done.details["tried"][-1] == 100


async def test_a_slider_that_tells_nothing_is_placed_and_not_called_verified(w: World) -> None:
    await w.open(SETTINGS)
    await w.session.scroll_to("Sound & vibration")
    await w.session.tap("Sound & vibration")
    done = await w.session.set_value("Media volume", 80)
    assert done.success, done.to_json()
    assert done.lifecycle_state == "pending_verification"
    assert done.verification
    assert done.verification.mode == "best_effort"
    assert w.phone.settings["system"]["volume_music_speaker"] == "12"


@pytest.mark.parametrize(
    ("target", "value"),
    [("Dark theme", 60), ("Navigate up", 60), ("Lock display", 60), ("Brightness level", "blue")],
)
async def test_what_has_no_such_value_is_a_mismatch_and_nothing_moves(
    w: World, target: str, value: Any
) -> None:
    await _display(w)
    touched = len(w.inputs())
    done = await w.session.set_value(target, value)
    assert (done.failure_code, done.delivery) == ("SEMANTIC_MISMATCH", "not_delivered")
    assert len(w.inputs()) == touched


async def test_a_row_that_asks_by_a_dialog_takes_one_of_its_entries(w: World) -> None:
    await _display(w)
    done = await w.session.set_value("Screen timeout", "5 minutes")
    assert done.lifecycle_state == "verified", done.to_json()
    assert w.phone.settings["system"]["screen_off_timeout"] == "300000"
    touched = len(w.inputs())
    again = await w.session.set_value("Screen timeout", "5 minutes")
    assert again.success, again.to_json()
    assert len(w.inputs()) == touched
    none = await w.session.set_value("Screen timeout", "7 minutes")
    assert none.failure_code == "CONTROL_CONVERGENCE_FAILED"
    assert "10 minutes" in none.details["offers"]
    assert "open" in (none.hint or "")


async def test_the_parts_of_a_time_are_chosen_from_its_face(w: World) -> None:
    await w.open(CLOCK)
    await w.session.tap("Alarm")
    await w.session.tap("8:30 AM")
    for part, value in (("hours", 10), ("minutes", 10), ("hours", 7), ("minutes", 5)):
        done = await w.session.set_value({"id": part}, value)
        assert done.success, done.to_json()
    await w.session.tap("OK")
    assert w.app_state(CLOCK)["alarms"][0]["time"] in ("7:05 AM", "07:05")


async def test_a_spinner_of_a_web_page_takes_one_of_its_options(w: World) -> None:
    await w.open(BROWSER)
    await w.session.wait_for("Become a member")
    await w.session.tap("Become a member", expect="Branch")
    branch = {"class_name": "Spinner"}
    await w.session.scroll_to(branch)
    done = await w.session.set_value(branch, "Island")
    assert done.lifecycle_state == "verified", done.to_json()
    assert (await w.session.expect_text(branch, equals="Island", timeout_ms=0)).success
