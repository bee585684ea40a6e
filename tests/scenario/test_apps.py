"""Apps and the device around them, each through the engine and with what proves it."""

from __future__ import annotations

from pathlib import Path

from handrail.protocol.envelope import Envelope
from handrail_sim.phone import Phone
from tests.scenario.world import FastClock, play, world
from tests.unit.android.sim_phone import put_apk

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
NOTES = "com.handrail.notes"
GALLERY = "com.handrail.gallery"
BROWSER = "com.handrail.browser"
TROUBLE = "com.handrail.trouble"
ALLOW = '[[rule]]\nname = "all"\nverdict = "allow"\n'


def _verified(done: Envelope) -> Envelope:
    assert done.lifecycle_state == "verified", done.to_json()
    assert done.verification
    assert done.verification.outcome == "verified"
    return done


async def test_an_app_is_started_stopped_and_restarted(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        started = _verified(await w.session.start_app(CONTACTS))
        assert started.verification
        assert started.verification.observed == CONTACTS
        _verified(await w.session.start_app(SETTINGS, activity=".Settings"))
        _verified(await w.session.stop_app(SETTINGS))
        assert w.phone.packages.pid_of(SETTINGS) is None
        first = w.phone.packages.pid_of(CONTACTS)
        _verified(await w.session.restart_app(CONTACTS))
        assert w.phone.packages.pid_of(CONTACTS) not in (None, first)


async def test_a_reset_deletes_what_an_app_kept(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        await w.open(TROUBLE)
        await w.session.scroll_to("Covered button")
        await w.session.tap("Covered button")
        await w.session.tap("Close banner")
        await w.session.tap("Accept")
        assert w.app_state(TROUBLE)["done"] == ["accepted"]
        _verified(await w.session.reset_app(TROUBLE))
        assert w.app_state(TROUBLE)["done"] == []


async def test_an_apk_is_installed_and_an_unreadable_one_is_refused(tmp_path: Path) -> None:
    apk = put_apk(tmp_path, "com.example.brief")
    async with world(tmp_path / "home", clock=FastClock(10), policy=ALLOW) as w:
        before = set(w.phone.packages.installed)
        _verified(await w.session.install_app(str(apk)))
        assert len(set(w.phone.packages.installed) - before) == 1
        missing = await w.session.install_app(str(tmp_path / "none.apk"))
        assert missing.failure_code is not None
        assert "none.apk" in (missing.message or "")


async def test_an_address_opens_in_the_app_that_handles_it(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        done = await w.session.open_url("https://harbour.example/hours")
        assert done.success, done.to_json()
        assert (await w.session.expect_app(BROWSER)).success
        assert (await w.session.wait_for({"visible": {"text_contains": "Opening hours"}})).success


async def test_network_orientation_and_clipboard_read_back(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW, helper="u2") as w:
        _verified(await w.session.set_network(airplane_mode=True))
        assert w.phone.settings["global"]["airplane_mode_on"] == "1"
        _verified(await w.session.set_network(airplane_mode=False))
        _verified(await w.session.set_orientation("landscape"))
        tree = await w.session.get_ui_tree()
        assert tree.details["text"].startswith("screen 2400x1080")
        _verified(await w.session.set_orientation("portrait"))
        _verified(await w.session.set_clipboard("50 % off; $5"))
        assert w.phone.clipboard == "50 % off; $5"


async def test_permissions_are_granted_and_revoked(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        name = "android.permission.READ_MEDIA_IMAGES"
        _verified(await w.session.grant_permission(GALLERY, name))
        assert w.phone.packages.is_granted(GALLERY, name)
        revoked = _verified(await w.session.revoke_permission(GALLERY, name))
        assert revoked.verification
        assert "revoked" in str(revoked.verification.observed)


async def test_a_command_gives_its_output_and_exit_code(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        done = _verified(await w.session.shell(["echo", "$HOME; id"]))
        assert (done.details["stdout"], done.details["exit_code"]) == ("$HOME; id\n", 0)
        raw = _verified(await w.session.shell("echo one | tr o O", raw=True))
        assert raw.details["stdout"] == "One\n"
        failed = await w.session.shell("ls /nowhere")
        assert failed.failure_code == "ADB_COMMAND_ERROR"
        assert failed.details["exit_code"] != 0
        assert "nowhere" in failed.details["stderr"]


async def test_gestures_aim_at_elements_and_at_points(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await w.open(NOTES)
        held = await w.session.long_press("Welcome")
        assert held.success, held.to_json()
        await w.session.press_key("back")
        await w.open(SETTINGS)
        swiped = _verified(await w.session.swipe("up"))
        assert swiped.changes
        back = _verified(await w.session.swipe(from_={"x": 540, "y": 600}, to={"x": 540, "y": 1800}))
        assert back.changes
        twice = await w.session.double_tap("540,1000")
        assert twice.delivery == "delivered"
        dragged = await w.session.drag("540,1800", "540,900")
        assert dragged.delivery == "delivered"


async def test_an_app_whose_screens_carry_another_package_is_started(tmp_path: Path) -> None:
    """A recorded screen says what it said; which app is in front is the phone's to tell."""
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    button = (
        '<node index="0" text="Letters" class="android.widget.Button" package="com.example.walk"'
        ' clickable="true" enabled="true" bounds="[0,300][1080,480]" />'
    )
    (recorded / "1.xml").write_text(
        '<hierarchy rotation="0"><node index="0" class="android.widget.FrameLayout"'
        f' package="com.example.walk" enabled="true" bounds="[0,0][1080,2400]">{button}</node></hierarchy>'
    )
    clock = FastClock(10)
    phone = Phone(clock=clock, apps=["launcher", "settings", f"replay:{recorded}"])
    async with world(tmp_path / "home", clock=clock, phone=phone) as w:
        for _ in range(2):
            done = await w.session.start_app("com.handrail.replay")
            assert done.success, done.to_json()
        assert (await w.session.expect_visible("Letters")).success
