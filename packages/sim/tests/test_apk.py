"""APKs: what is read of them, and what an installed one can do."""

from __future__ import annotations

import asyncio
import random

import pytest

from handrail_sim.shell.apk import BadApk, read_apk
from tests.apks import compiled, launcher_apk, packed, table, text_apk
from tests.hand import Hand
from tests.shell_person import new_phone, out, run_to_end, shell

PACKAGE = "org.example.lamp"


def install(phone: object, data: bytes, options: str = "") -> str:
    return out(f"cmd package install {options} -S {len(data)}", phone=phone, stdin=data)  # type: ignore[arg-type]


@pytest.mark.parametrize("utf8", [False, True])
def test_a_label_that_is_a_reference_is_looked_up_in_the_resources(utf8: bool) -> None:
    manifest = compiled(
        [("manifest", {"package": PACKAGE}), ("application", {"label": 0x7F010000})], utf8=utf8
    )
    assert read_apk(packed(manifest, table({"de": "Lampe", "": "Lamp", "en": "Light"}))).label == "Lamp"
    assert read_apk(packed(manifest, table({"de": "Lampe", "en": "Light"}))).label == "Light"
    assert read_apk(packed(manifest, table({"de": "Lampe"}))).label == "Lampe"
    assert read_apk(packed(manifest)).label == PACKAGE


def test_what_a_manifest_declares_is_read_from_its_compiled_form() -> None:
    tags: list[tuple[str, dict[str, str | int]]] = [
        ("manifest", {"package": PACKAGE}),
        ("uses-permission", {"name": "android.permission.CAMERA"}),
        ("instrumentation", {"name": ".Runner", "targetPackage": "org.example.aim"}),
        ("application", {"label": "Lamp"}),
        ("activity", {"name": ".Main"}),
        ("service", {"name": "Glow"}),
    ]
    facts = read_apk(packed(compiled(tags)))
    assert (facts.package, facts.label, facts.permissions) == (PACKAGE, "Lamp", ["android.permission.CAMERA"])
    assert facts.activities == [f"{PACKAGE}.Main"]
    assert facts.services == [f"{PACKAGE}.Glow"]
    assert facts.instrumentations == {f"{PACKAGE}.Runner": "org.example.aim"}


def test_broken_bytes_are_refused_and_never_crash() -> None:
    manifest = compiled([("manifest", {"package": PACKAGE}), ("application", {"label": 0x7F010000})])
    resources, dice = table({"": "Lamp"}), random.Random(7)
    for _ in range(300):
        broken, other = bytearray(manifest), bytearray(resources)
        for _ in range(4):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
            other[dice.randrange(len(other))] = dice.randrange(256)
        try:
            read_apk(packed(bytes(broken), bytes(other)))
        except BadApk as refusal:
            assert str(refusal).startswith("INSTALL_")


def test_an_installed_apk_is_listed_started_shown_and_uninstalled() -> None:
    phone = new_phone(["settings"])
    assert install(phone, launcher_apk(PACKAGE, "Lamp & Co".replace("&", "&amp;"))) == "Success\n"
    assert f"package:{PACKAGE}\n" in out("pm list packages -3", phone=phone)
    brief = out(f"cmd package resolve-activity --brief {PACKAGE}", phone=phone)
    assert brief.splitlines()[-1] == f"{PACKAGE}/.Main"
    assert "Status: ok" in out(f"am start -W -n {PACKAGE}/.Main", phone=phone)
    assert f"{PACKAGE}/{PACKAGE}.Main" in out("dumpsys window displays | grep mCurrentFocus", phone=phone)
    hand = Hand(phone)
    assert hand.sees("Lamp & Co")
    assert hand.sees(f"{PACKAGE}/.Main")
    assert phone.packages.pid_of(PACKAGE)
    missing = shell(f"am start -n {PACKAGE}/.Other", phone=phone)
    assert "does not exist" in missing.errors
    assert out(f"pm uninstall {PACKAGE}", phone=phone) == "Success\n"
    assert PACKAGE not in out("pm list packages", phone=phone)
    assert phone.packages.pid_of(PACKAGE) is None
    assert shell(f"am start -n {PACKAGE}/.Main", phone=phone).status == 1


def test_an_installed_app_has_an_icon_and_survives_a_snapshot() -> None:
    phone = new_phone()
    install(phone, launcher_apk(PACKAGE, "Lamp"))
    phone.start_activity(package=PACKAGE)
    phone.snapshot("lit")
    install(phone, launcher_apk(PACKAGE, "Torch"))
    out(f"pm uninstall {PACKAGE}", phone=phone)
    phone.restore("lit")
    hand = Hand(phone)
    assert hand.sees("Lamp")
    assert not hand.sees("Torch")


def test_a_package_without_a_launcher_has_no_icon_and_can_not_be_launched() -> None:
    phone = new_phone()
    install(phone, text_apk(PACKAGE, '<application><activity android:name=".Inner"/></application>'))
    assert not phone.start_activity(package=PACKAGE).ok
    assert "No activities found" in shell(f"monkey -p {PACKAGE} 1", phone=phone).text
    assert out(f"am start -n {PACKAGE}/.Inner", phone=phone).startswith("Starting")


def test_a_declared_service_is_listed_while_its_process_lives() -> None:
    phone = new_phone()
    install(phone, text_apk(PACKAGE, '<application><service android:name=".Glow"/></application>'))
    assert "isForeground" not in out(f"dumpsys activity services {PACKAGE}", phone=phone)
    out(f"am start-foreground-service -n {PACKAGE}/.Glow", phone=phone)
    assert "isForeground=true" in out(f"dumpsys activity services {PACKAGE}", phone=phone)
    assert shell(f"am startservice -n {PACKAGE}/.None", phone=phone).status == 255
    out(f"am force-stop {PACKAGE}", phone=phone)
    assert "(nothing)" in out(f"dumpsys activity services {PACKAGE}", phone=phone)


def test_splits_are_installed_with_their_base_and_not_without() -> None:
    async def story() -> None:
        phone = new_phone()
        base = launcher_apk(PACKAGE, "Lamp")
        split = packed(f'<manifest package="{PACKAGE}" split="config.en"/>'.encode())
        created = await run_to_end(phone, "cmd package install-create -S 1")
        number = created.text.rpartition("[")[2].rstrip("]\n")
        for name, data in (("1_config.apk", split), ("0_lamp.apk", base)):
            await run_to_end(phone, f"cmd package install-write -S {len(data)} {number} {name} -", data)
        assert (await run_to_end(phone, f"cmd package install-commit {number}")).text == "Success\n"
        assert phone.packages.installed[PACKAGE].label == "Lamp"
        assert (await run_to_end(phone, f"pm path {PACKAGE}")).text.count("package:") == 2
        alone = await run_to_end(phone, f"cmd package install -S {len(split)}", split)
        assert "Full install must include a base package" in alone.text
        more = await run_to_end(phone, f"cmd package install -p {PACKAGE} -S {len(split)}", split)
        assert more.text == "Success\n"

    asyncio.run(story())


def test_appiums_settings_app_reads_the_clipboard_through_its_own_input_method() -> None:
    phone = new_phone()
    helper = "io.appium.settings"
    inner = f'<service android:name="{helper}.ForegroundService"/><activity android:name=".Settings"/>'
    install(phone, text_apk(helper, f"<application>{inner}</application>"))
    phone.clipboard = "Grüße"
    ask = f"am broadcast -n {helper}/.receivers.ClipboardReceiver -a {helper}.clipboard.get"
    assert "result=0" in out(ask, phone=phone)
    out(f"am start-activity -n {helper}/.Settings", phone=phone)
    assert "isForeground=true" in out(f"dumpsys activity services {helper}", phone=phone)
    assert phone.tasks.top is not None
    assert phone.tasks.top.app.package != helper
    assert "data=" not in out(ask, phone=phone)
    out(f"ime enable {helper}/.AppiumIME; ime set {helper}/.AppiumIME", phone=phone)
    assert 'result=-1, data="R3LDvMOfZQ=="' in out(ask, phone=phone)
    phone.notify("com.android.settings", "Hello", "there")
    assert '"title": "Hello"' in out(f"am broadcast -a {helper}.notifications", phone=phone)
