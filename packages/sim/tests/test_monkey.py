"""monkey: stays in its app, says what it does with -v, and takes a script over a port."""

from __future__ import annotations

import asyncio

from handrail_sim.clock import ManualClock
from handrail_sim.shell import capture
from tests.shell_person import new_phone, out, shell

NOTES, BANK = "com.handrail.notes", "com.handrail.bank"


def test_monkey_with_a_package_stays_in_it() -> None:
    phone = new_phone(["notes", "settings", "browser"])
    seen: set[str] = set()
    phone.on_event(lambda event: seen.add(event[2]))
    for seed in range(5):
        shell(f"monkey -p {NOTES} -s {seed} 50", phone=phone)
        assert phone.tasks.top is not None
        assert phone.tasks.top.app.package == NOTES
    assert set(phone.tasks.running) <= {NOTES, "com.android.launcher3"}
    assert phone.tasks.allowed is None


def test_monkey_says_more_with_every_v() -> None:
    phone = new_phone(["notes"])
    plain = shell(f"monkey -p {NOTES} -v 3", phone=phone).text
    assert f":Monkey: seed=0 count=3\n:AllowPackage: {NOTES}\n" in plain
    assert "//   0: 15.0%\n" in plain
    assert f"component={NOTES}/.MainActivity;end" in plain
    assert ":Sending Touch" in shell(f"monkey -p {NOTES} -v -v --pct-touch 100 9", phone=phone).text


def test_monkey_refuses_what_it_does_not_know() -> None:
    answer = shell("monkey --nosuch 3")
    assert answer.status == 255
    assert answer.errors.startswith("** Error: Unknown option: --nosuch\nusage: monkey")


def test_monkey_takes_a_script_over_its_port() -> None:
    phone = new_phone(["notes"])
    phone.start_activity(phone.packages.component(NOTES))
    phone.input_log.clear()
    assert isinstance(phone.clock, ManualClock)
    clock = phone.clock

    async def story() -> str:
        monkey = asyncio.ensure_future(capture(phone, "monkey --port 1080"))
        for _ in range(20):
            await asyncio.sleep(0)
        script = b"tap 500 900\nnonsense\ngetvar am.current.package\npress BACK\nquit\n"
        client = asyncio.ensure_future(capture(phone, "nc 127.0.0.1 1080", script))
        for _ in range(50):
            await clock.advance(16.0)
        assert (await monkey).status == 0
        return (await client).text

    assert asyncio.run(story()) == f"OK\nERROR:nonsense not found\nOK:{NOTES}\nOK\nOK\n"
    assert [one["action"] for one in phone.input_log] == ["down", "up", "key"]


def test_an_app_writes_lines_of_its_own_to_the_log() -> None:
    phone = new_phone(["notes"])
    phone.start_activity(phone.packages.component(NOTES))
    pid = out(f"pidof {NOTES}", phone=phone).strip()
    own = out(f"logcat -d --pid={pid} -v tag", phone=phone)
    assert "D/MainActivity: onCreate" in own
    assert f"Displayed {NOTES}/.MainActivity" in out("logcat -d -b system", phone=phone)
