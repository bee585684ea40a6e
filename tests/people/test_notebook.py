"""What a notebook shows: a device's words are text in it, whatever they spell. A real parser is the judge."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from handrail.protocol.envelope import Envelope, ScreenSnapshot
from handrail.protocol.notebook import changes_html, envelope_html, safe_html, screen_html
from handrail.screen.diff import diff
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, field
from tests.cases import each
from tests.people.story import config_of, opened
from tests.people.test_raising import failed

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
    '" style="position:fixed', "</pre></div><h1>Approved</h1>", "<!-- ", "]]><svg onload=alert(1)>",
    "&lt;script&gt;&#60;script&#62;", "javascript:alert(1)", "\u202egnp.exe", "a\x00b\x1b[31m",
    "<style>*{display:none}</style>", "{{7*7}}${7*7}", "'><base href=//evil.test>",
]  # fmt: skip
TAGS = {"div", "b", "span", "pre", "img", "details", "summary", "bdi", "code", "s"}
STYLES = re.compile(r"[\w#%:;.,()/ -]*")


class Judge(HTMLParser):
    """Every tag and attribute is one that we write; every text is given back."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        given = dict(attrs)
        assert given.keys() <= {"style", "class", "src", "alt"}, given
        assert STYLES.fullmatch(given.get("style") or ""), given
        assert given.get("class") in (None, "handrail")
        if "src" in given:
            assert re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", given["src"] or "")
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def judged(html: str) -> str:
    judge = Judge()
    judge.feed(html)
    judge.close()
    assert judge.open == []
    return "".join(judge.texts)


def everywhere(text: str) -> list[Envelope]:
    """The text in every field of an envelope that takes any."""
    changes = [
        {"type": kind, "class": text, "label": text, "ref": text, "attribute": text, "old": text, "new": text}
        for kind in ("added", "removed", "changed", "navigated", "moved", "scrolled", "more", text)
    ]
    told = {
        "reason": text,
        "message": text,
        "hint": text,
        "changes": changes,
        "details": {"text": f"{text}\n{text}", text: text, "screenshotBase64": text, "list": [text]},
        "target": {"selector": {"text": text}, "resolved": {"text": text}},
        "diagnostics": [text],
    }
    good = {"success": True, "failure_code": None, "lifecycle_state": "verified"}
    return [failed("UNKNOWN", **told), failed("UNKNOWN", **{**told, **good})]


@each("text", HOSTILE)
def test_no_text_of_a_device_is_markup(text: str) -> None:
    for envelope in everywhere(text):
        told = judged(envelope_html(envelope))
        assert re.sub("[\x00\x1b\u202e]", "·", text) in told
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", told)
    judged(screen_html(text, text))
    judged(changes_html([{"type": text}]))
    judged(safe_html(text))
    assert ScreenSnapshot(
        device_id="x", current_app=text, width=1, height=1, screenshot_base64=text, captured_at=text
    )._repr_html_() == ""  # fmt: skip


class Hostile(Activity):
    """A screen whose labels try it."""

    title = HOSTILE[0]

    def build(self) -> View:
        return column(*[button(one, self.nothing) for one in HOSTILE], field("name", hint=HOSTILE[2]))

    def nothing(self) -> None:
        self.state["count"] = 1


class HostileApp(App):
    """As an app."""

    package = "com.example.hostile"
    label = HOSTILE[1]
    activities = {".Main": Hostile}


def test_a_hostile_screen_is_shown_as_its_words(tmp_path: Path) -> None:
    with opened(tmp_path, apps=[HostileApp, "settings"]) as phone:
        phone.start_app("com.example.hostile")
        seen = phone.get_ui_tree()
        first = phone.session.screens.last
        picture = phone.screenshot()
        phone.start_app("com.android.settings")
        second = phone.session.screens.last
        assert first is not None
        assert second is not None
        for html in (
            seen._repr_html_(),
            picture._repr_html_(),
            first.screen._repr_html_(),
            diff(first.screen, second.screen)._repr_html_(),
            phone.what_changed()._repr_html_(),
        ):
            judged(html)
        assert "script>alert(1)" in judged(seen._repr_html_())
        assert "<img " in picture._repr_html_()


def test_a_secret_is_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "correct-horse-battery"
    monkeypatch.setenv("HANDRAIL_SECRET_PASS", secret)
    policy = config_of(tmp_path).policy
    policy.parent.mkdir(mode=0o700, parents=True)
    policy.write_text('[secrets]\nPASS = "*"\n')
    with opened(tmp_path) as phone:
        phone.start_app("com.google.android.contacts")
        phone.tap("Create new contact")
        typed = phone.type_text("${secret:PASS}", target="First name")
        seen = phone.get_ui_tree()
        assert any(secret in str(one) for one in phone.simulated.input_log)
        for envelope in (typed, seen, phone.what_changed()):
            assert secret not in envelope._repr_html_()
