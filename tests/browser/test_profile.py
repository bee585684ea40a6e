"""Nothing that is typed into a page stays in the browser's profile: its bytes are searched afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.browser.stage import served, staged

TYPED = {
    "email": "quill.sender@example.org",
    "card": "4111111111111111",
    "note": "meet me at the mill",
    "password": "Thornquill-77",
}
PAGE = """<form action="/done" method="post"><input name="email" autocomplete="email"><input name="card"
autocomplete="cc-number"><textarea name="note"></textarea><input name="password" type="password"><button>
Go on</button></form>"""
WRITES_S = 4.0
"""Chromium writes its session files every 2.5 s."""


def traces(profile: Path) -> list[str]:
    files = [path for path in profile.rglob("*") if path.is_file()]
    assert any(path.name == "Preferences" for path in files)
    return [
        f"{name} in {path.relative_to(profile)} as {encoding}"
        for path in files
        for name, text in TYPED.items()
        for encoding in ("utf-8", "utf-16-le")
        if text.encode(encoding) in path.read_bytes()
    ]


@pytest.mark.slow
async def test_a_profile_keeps_nothing_that_was_typed(tmp_path: Path) -> None:
    with served() as site:
        site.put("Done", "/done")
        async with staged(site, tmp_path / "home") as stage:
            await stage.show(PAGE)
            for name, text in TYPED.items():
                await stage.js(f"document.querySelector('[name={name}]').focus()")
                await stage.surface.tabs.front.session.call("Input.insertText", {"text": text})
            await asyncio.sleep(WRITES_S)
            await stage.js("document.querySelector('button').click()")
            await asyncio.sleep(WRITES_S)
            assert not traces(tmp_path / "home" / "profile"), "while the browser runs"
        assert len(site.posted) == 1
    assert not traces(tmp_path / "home" / "profile")


@pytest.mark.slow
def test_a_site_is_still_logged_in_after_the_browser_was_started_again(tmp_path: Path) -> None:
    """Cookies are kept, and a session of an older profile is removed."""

    async def story(site_page: str) -> None:
        with served() as site:
            site.put(site_page)
            for folder in ("first", "second"):
                home = tmp_path / folder
                if folder == "second":
                    home.mkdir(mode=0o700)
                    (tmp_path / "first" / "profile").rename(home / "profile")
                    sessions = home / "profile" / "Default" / "Sessions"
                    sessions.unlink()
                    sessions.mkdir()
                    (sessions / "Session_1").write_text(TYPED["note"])
                async with staged(site, home) as stage:
                    await stage.goto(site.url())
                    was = await stage.js("document.cookie")
                    await stage.js("document.cookie = 'login=yes; max-age=9999'")
                    assert was == ("login=yes" if folder == "second" else "")
                    await asyncio.sleep(1)
            assert not traces(tmp_path / "second" / "profile")

    asyncio.run(story("Hello"))
