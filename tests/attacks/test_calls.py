"""Keys that answer or end a call, wherever the focus is: the phone itself says what became of the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.config import Config
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.system import telephony
from tests.scenario.world import FastClock, play

ASYNC_RUNNER = play
RULES = '[[rule]]\nname = "no calls"\nlabel = ["Answer", "Decline", "Hang up"]\nverdict = "{}"\n'
ACTIONS = (
    {"type": "press_key", "key": "KEYCODE_CALL"},
    {"type": "press_key", "key": 79},
    {"type": "press_key", "key": "KEYCODE_ENDCALL"},
    {"type": "press_keys", "keys": ["volume_up", "KEYCODE_HEADSETHOOK"]},
)


@pytest.mark.parametrize("verdict", ["deny", "allow"])
async def test_no_key_does_what_a_denied_button_of_a_call_does(tmp_path: Path, verdict: str) -> None:
    clock = FastClock(10.0)
    phone = Phone(clock=clock)
    env = {"HANDRAIL_HOME": str(tmp_path), "HOME": str(tmp_path)}
    config = Config.from_env(env)
    config.policy.parent.mkdir(parents=True)
    config.policy.write_text(RULES.format(verdict))
    async with serve([phone], port=0) as [served], Runtime.open(config, clock=clock, env=env) as runtime:
        session = await runtime.session(served.address, helper="none")
        for action in ACTIONS:
            telephony.end(phone)
            assert telephony.ring(phone, "+49123456")
            await session.run(action)
            state = phone.call["state"] if phone.call else "ended"
            assert (state == "ringing") is (verdict == "deny"), (action, state)
