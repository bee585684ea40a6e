"""An attempt that does not count any more touches nothing: judged by the phone's own input log."""

import asyncio
from pathlib import Path

import pytest
from packages.fleet.tests.lab import lab, unit

from handrail.errors import DeviceBusy, InvalidAction
from handrail.flow.document import loads
from handrail.flow.write import write_flow
from handrail.protocol.device import PressKey
from handrail.safety.caller import Caller
from handrail.safety.leases import Holder, Leases
from handrail.store import Store
from handrail_fleet.agent import IDLE_BEATS
from handrail_fleet.command_head import BEAT, HeadOptions, check_network
from handrail_fleet.fence import HostFence, check_lease
from handrail_fleet.underway import AttemptFence
from handrail_sim.clock import ManualClock
from tests.scenario.world import play


async def touch_after_the_end(folder: Path) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        phone, clock = host.phones.phones["sim-1"], ManualClock()
        assert phone.simulated is not None
        fence = HostFence(clock, 8_000, clock.monotonic_ms())
        caller = Caller("u#1", "flow", "flow", fence=AttemptFence(fence, ("u", 1)))
        good = await phone.session.run(PressKey(key="home"), reason="it counts", caller=caller)
        assert good.delivery == "delivered"
        before = len(phone.simulated.input_log)
        clock._passed_ms += 4_000
        late = await phone.session.run(PressKey(key="home"), reason="half the lease is over", caller=caller)
        assert (late.failure_code, late.delivery) == ("CANCELLED", "not_delivered")
        assert len(phone.simulated.input_log) == before
        fence.renewed(clock.monotonic_ms())
        late = await phone.session.run(PressKey(key="home"), reason="the head is back", caller=caller)
        assert late.delivery == "not_delivered", "an attempt that had to stop does not go on"
        assert len(phone.simulated.input_log) == before
        newer = Caller("u#2", "flow", "flow", fence=AttemptFence(fence, ("u", 2)))
        assert (await phone.session.run(PressKey(key="home"), reason="again", caller=newer)).success


def test_nothing_is_dispatched_after_half_the_lease(tmp_path: Path) -> None:
    play(touch_after_the_end(tmp_path))


async def older_attempt(folder: Path) -> None:
    store = Store(folder / "handrail.db")
    leases = Leases(store, ManualClock())
    newer = await leases.acquire("phone", Holder("a", "flow", fence=("u", 2)))
    await newer.release()
    with pytest.raises(DeviceBusy, match="attempt 1 of u is over"):
        await leases.acquire("phone", Holder("b", "flow", fence=("u", 1)))
    with pytest.raises(DeviceBusy, match="attempt 1 of u is over"):
        await leases.acquire("another", Holder("b", "flow", fence=("u", 1)))
    held = await leases.acquire("phone", Holder("b", "flow", fence=("u", 2)))
    assert held.held.to_dict()["holder"]["fence"] == ("u", 2)
    with pytest.raises(DeviceBusy):
        await leases.rename(held, Holder("b", "flow", fence=("u", 1)))
    store.close()


def test_an_older_attempt_gets_no_lease_in_the_same_home(tmp_path: Path) -> None:
    play(older_attempt(tmp_path))


ASKING = """
name: Ask
steps:
  - request_human_auth: {capability: permission, instruction: May I?}
"""


async def cut_while_asking(folder: Path) -> None:
    """The stop itself is timed by `bench/stop.py`; here it must end the question and free the phone."""
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        run = await fleet.submit([unit(ASKING, folder)])
        while not await host.runtime.approvals.pending():
            await asyncio.sleep(0.02)
        host.line.is_cut = True
        while await host.runtime.approvals.pending():
            await asyncio.sleep(0.02)
        while not host.phones.free():
            await asyncio.sleep(0.02)
        [told] = await fleet.units(run)
        assert told["state"] == "running", "the host was first"


def test_a_question_ends_with_its_host_being_cut_off(tmp_path: Path) -> None:
    play(cut_while_asking(tmp_path))


async def lose_answers(folder: Path) -> None:
    """Claims whose answers are lost are asked again, and every unit still has one result."""
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=2)
        host.line.loses_answers = True
        run = await fleet.submit([unit("name: One\nsteps:\n  - press_key: home\n", folder)] * 4)
        while not (await fleet.head.do(lambda ledger: ledger.run(run)))["counts"].get("running"):
            await asyncio.sleep(0.02)
        host.line.loses_answers = False
        told = await fleet.done(run)
        assert told["counts"] == {"done": 4}
        assert [one["attempt"] for one in await fleet.units(run)] == [1, 1, 1, 1]


def test_a_claim_whose_answer_was_lost_is_answered_again(tmp_path: Path) -> None:
    play(lose_answers(tmp_path))


def options(**given: object) -> HeadOptions:
    usual = {
        "bind": "10.0.0.1", "port": 0, "token": None, "cert": None, "key": None, "trusted_network": False,
        "lease": 8.0, "ray": False, "ray_port": 6390, "redis": None,
    }  # fmt: skip
    return HeadOptions(**{**usual, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("lease_s", [5.0, 8.0, 60.0, 600.0])
def test_hosts_beat_slower_the_longer_the_lease_is_and_always_often_enough(lease_s: float) -> None:
    check_lease(lease_s * 1000, lease_s * 1000 * BEAT)
    assert lease_s * 1000 * BEAT * IDLE_BEATS < lease_s * 1000 / 2


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"token": "x" * 32},
        {"trusted_network": True},
        {"cert": Path("c.pem")},
        {"token": "x" * 32, "cert": Path("c.pem"), "ray": True},
        {"bind": "0.0.0.0", "token": "x" * 32},
    ],
)
def test_an_address_that_others_reach_needs_a_token_and_tls_or_a_network_of_its_own(
    given: dict[str, object],
) -> None:
    with pytest.raises(InvalidAction):
        check_network(options(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"bind": "localhost", "ray": True},
        {"bind": "127.0.0.1"},
        {"token": "x" * 32, "trusted_network": True, "ray": True},
        {"token": "x" * 32, "cert": Path("c.pem")},
    ],
)
def test_these_addresses_are_served(given: dict[str, object]) -> None:
    check_network(options(**given))


def test_a_flow_says_how_it_may_be_repeated_and_is_written_back_so() -> None:
    text = "name: F\nretry: lost\nattempts: 4\nsteps:\n  - press_key: home\n"
    flow = loads(text).flow
    assert (flow.retry, flow.attempts) == ("lost", 4)
    assert loads(write_flow(flow)).flow == flow
    for wrong in ("retry: always", "attempts: 0", "attempts: 99"):
        with pytest.raises(InvalidAction):
            loads(f"name: F\n{wrong}\nsteps:\n  - press_key: home\n")
