"""Files to and from pages, permissions and chords: what policy lists and a person gives, nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.browser.files import WebFiles
from tests.browser.conftest import Play
from tests.browser.stage import Loop, Site, Stage, proved, staged

FIELD = (
    "<label>Photo <input type=file id=f onchange='read(this)'></label><p id=out></p><script>"
    "read = async (field) => { out.textContent = await field.files[0].text() }</script>"
)


@pytest.mark.slow
def test_a_page_gets_the_files_that_policy_lists_and_no_other(site: Site, tmp_path: Path) -> None:
    outbox = tmp_path / "outbox"
    outbox.mkdir()
    (outbox / "photo.txt").write_text("hello from the outbox")
    (tmp_path / "key.txt").write_text("secret")
    (outbox / "link.txt").symlink_to(tmp_path / "key.txt")

    async def story() -> None:
        policy = f'known_hosts = ["127.0.0.1"]\nuploads = ["{outbox.resolve()}/*"]\n'
        async with staged(site, tmp_path / "home", policy) as stage:
            await stage.show(FIELD)
            for name in (tmp_path / "key.txt", outbox / "link.txt", outbox / "none.txt", outbox):
                refused = await stage.act("set_value", target={"text": "Photo"}, value=str(name))
                assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
                assert refused.delivery == "not_delivered"
            odd = await stage.act("set_value", target={"text": "Photo"}, value="photo.txt")
            assert odd.failure_code == "INVALID_ACTION", odd.to_json()
            assert await stage.js("f.files.length") == 0
            given = await stage.act("set_value", target={"text": "Photo"}, value=str(outbox / "photo.txt"))
            assert proved(given), given.to_json()
            assert await stage.js("out.textContent") == "hello from the outbox"

    run(story())


@pytest.mark.slow
def test_a_button_that_opens_a_chooser_is_said_to_want_a_file_and_takes_one(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("A")

    async def story() -> None:
        policy = f'known_hosts = ["127.0.0.1"]\nuploads = ["{tmp_path.resolve()}/*.txt"]\n'
        async with staged(site, tmp_path / "home", policy) as stage:
            await stage.show("<input type=file id=f hidden><button onclick='f.click()'>Attach</button>")
            tapped = await stage.tap("Attach")
            assert "asks for a file" in str(tapped.diagnostics), tapped.to_json()
            given = await stage.act("set_value", target={"text": "Attach"}, value=str(tmp_path / "a.txt"))
            assert proved(given), given.to_json()
            assert await stage.js("f.files[0].name") == "a.txt"

    run(story())


@pytest.mark.slow
def test_a_file_that_a_page_sends_is_refused_or_kept_by_a_number_and_named(
    site: Site, tmp_path: Path
) -> None:
    page = (
        "<a download=../../run.sh href='data:text/plain,hi'>Data</a>"
        "<a download=report.pdf href=/report>Report</a>"
    )

    async def story() -> None:
        async with staged(site, tmp_path / "home", files=keeps(tmp_path / "kept", "")) as stage:
            site.pages["/report"] = "the report"
            await stage.show(page)
            told = await stage.tap("Report")
            assert "refused" in await said(stage, told.diagnostics), told.to_json()
            assert list((tmp_path / "kept").iterdir()) == []
        async with staged(site, tmp_path / "home2", files=keeps(tmp_path / "kept", site.origin)) as stage:
            await stage.show(page)
            told = await stage.tap("Report")
            line = await said(stage, told.diagnostics)
            assert "'report.pdf'" in line
            (kept,) = (tmp_path / "kept").iterdir()
            assert kept.read_text() == "the report"
            assert kept.suffix == ""
            assert kept.name in line
            assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700

    run(story())


def keeps(folder: Path, origin: str) -> WebFiles:
    return WebFiles(lambda _: False, lambda one: one == origin, folder)


async def said(stage: Stage, told: object) -> str:
    """The line about a download, which may come with a later answer."""
    text = str(told)
    while "[download]" not in text:
        text = str((await stage.act("get_ui_tree")).diagnostics)
    return text


def run(story: object) -> None:
    loop = Loop()
    try:
        loop.run(story)
    finally:
        loop.close()


ASK = (
    "navigator.permissions.query({name: 'geolocation'}).then((one) => one.state)",
    "Notification.permission",
    "navigator.permissions.query({name: 'camera'}).then((one) => one.state)",
)


def test_a_page_has_no_permission_until_a_person_gives_it(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<p>Where")
        assert [await stage.js(one) for one in ASK] == ["denied"] * 3
        origin = stage.site.origin
        task = asyncio.create_task(stage.act("grant_permission", package=origin, permission="geolocation"))
        while not (pending := await stage.runtime.approvals.pending()):
            await asyncio.sleep(0.005)
        assert "geolocation" in pending[0].request.instruction
        assert await stage.js(ASK[0]) == "denied"
        await stage.runtime.approvals.answer(pending[0].id, True, "lena")
        granted = await task
        assert granted.success, granted.to_json()
        assert [await stage.js(one) for one in ASK] == ["granted", "denied", "denied"]
        await stage.goto(stage.site.other + "/")
        assert await stage.js(ASK[0]) == "denied"

    play(story)


@pytest.mark.parametrize(("package", "permission"), [("http://127.0.0.1:1", "root"), ("bad", "camera")])
def test_a_permission_that_there_is_not_is_refused(play: Play, package: str, permission: str) -> None:
    async def story(stage: Stage) -> None:
        task = asyncio.create_task(stage.act("grant_permission", package=package, permission=permission))
        while not task.done() and not (pending := await stage.runtime.approvals.pending()):
            await asyncio.sleep(0.005)
        if not task.done():
            await stage.runtime.approvals.answer(pending[0].id, True, "lena")
        refused = await task
        assert refused.failure_code == "INVALID_ACTION", refused.to_json()

    play(story)


LISTENS = (
    "<textarea id=t aria-label=Note>some words</textarea><script>log = [];"
    " addEventListener('keydown', (one) => "
    "log.push([one.key, one.ctrlKey, one.shiftKey, one.altKey, one.metaKey, one.isTrusted]))</script>"
)


def test_chords_reach_the_page_as_they_are_held(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(LISTENS)
        await stage.tap("Note")
        for chord in ("ctrl+KEYCODE_A", "shift+ctrl+enter", "ctrl+shift+KEYCODE_K"):
            done = await stage.act("press_keys", keys=chord.split("+"))
            assert done.success, done.to_json()
            if chord == "ctrl+KEYCODE_A":
                assert await stage.js("t.selectionEnd - t.selectionStart") == 10
        log = [one for one in await stage.js("log") if one[0] not in ("Control", "Shift")]
        assert log == [
            ["a", True, False, False, False, True],
            ["Enter", True, True, False, False, True],
            ["k", True, True, False, False, True],
        ]

    play(story)


def test_a_chord_that_may_press_anything_is_asked_for(play: Play) -> None:
    """An access key presses its button wherever the focus is, and ctrl+enter what an enter would."""

    async def story(stage: Stage) -> None:
        await stage.show(
            "<form onsubmit='event.preventDefault(); sent++'><input aria-label=Amount>"
            "<button accesskey=p>Pay now</button></form><script>sent = 0;"
            "addEventListener('keydown', (one) => { if (one.ctrlKey && one.key == 'Enter') sent++ })</script>"
        )
        await stage.tap("Amount")
        for chord in ("alt+KEYCODE_P", "ctrl+enter"):
            task = asyncio.create_task(stage.act("press_keys", keys=chord.split("+")))
            while not (pending := await stage.runtime.approvals.pending()):
                await asyncio.sleep(0.005)
            await stage.runtime.approvals.answer(pending[0].id, False, "lena")
            assert (await task).failure_code == "ACTION_REJECTED"
        assert await stage.js("sent") == 0

    play(story)
