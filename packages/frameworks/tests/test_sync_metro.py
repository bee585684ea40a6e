from __future__ import annotations

import pytest
from packages.frameworks.tests.metro_stage import PACKAGE, answering, at_rest, metro

from handrail.errors import DeviceError
from handrail_frameworks.react_native import (
    HostTcp,
    MetroRoute,
    Target,
    candidates,
    choose,
    find_target,
    metro_signals,
)
from tests.cases import each
from tests.unit.android.sim_phone import Bench, play

OURS = Target("ws://x/1", "Hermes React Native", app_id=PACKAGE)
OTHERS = Target("ws://x/2", "Hermes React Native", app_id="com.example.other")


@each(
    ("targets", "chosen"),
    [
        ([OTHERS, OURS], [OURS]),
        ([OTHERS], []),
        ([Target("a", description=f"about {PACKAGE}"), Target("b", PACKAGE)], ["a"]),
        ([Target("a", "Page"), Target("b", PACKAGE)], ["b"]),
        ([Target("a", "Page"), Target("b", "Hermes")], ["b"]),
        ([Target("a", "Page"), Target("b", type="node")], ["b"]),
        ([Target("a", "Page")], ["a"]),
        ([Target("a", "Page"), Target("b", "Page")], []),
        ([OTHERS, Target("a", "Page")], []),
        ([Target("a", PACKAGE, vm="don't use")], []),
        ([], []),
    ],
)
def test_the_apps_own_runtime_is_found_and_never_another_apps(
    targets: list[Target], chosen: list[object]
) -> None:
    assert [one if one is OURS else one.url for one in candidates(targets, PACKAGE)] == chosen


def test_of_several_the_one_on_this_phone_that_survives_reloads() -> None:
    old, new = (Target(name, app_id=PACKAGE, device_name="Pixel 7 - 14") for name in "ab")
    lasting = Target("c", "React Native Experimental (Improved Chrome Reloads)", device_name="Pixel 7 - 14")
    other = Target("d", app_id=PACKAGE, device_name="SM-S911B - 14")
    assert choose([old, new]) is new
    assert choose([old, lasting, new]) is lasting
    assert choose([old, new, other], "Pixel 7") is new
    assert choose([old, other], "unknown") is other


@each("url", ["ws://[::1]:8081/d?page=1", "ws://localhost:8081/d?page=1", "ws://10.0.2.2:9999/d?page=1"])
def test_a_runtime_is_reached_as_its_metro_was(url: str) -> None:
    assert MetroRoute(HostTcp("10.1.1.1", 8088), 8088).uri(Target(url)) == "ws://127.0.0.1:8088/d?page=1"


def test_a_metro_is_asked_on_the_host_where_the_phone_has_none() -> None:
    async def story(bench: Bench) -> None:
        async with metro(answering(at_rest), title="Page") as address:
            way, target = await find_target(bench.device, PACKAGE, bench.clock, address)
            assert (type(way.opens), target.title) == (HostTcp, "Page")
            assert bench.link.opened == [f"tcp:{address[1]}"]
            assert await metro_signals(bench.device, PACKAGE, bench.clock, address) == (f"metro:{PACKAGE}",)
            with pytest.raises(DeviceError, match="1 targets, none of"):
                await find_target(bench.device, "com.example.third", bench.clock, address)

    play(story)
