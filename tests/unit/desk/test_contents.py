"""Content: code points, limits, changed renderers, frames and pictures."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.desk.content import SANDBOX, is_own_picture, narrow_sandbox
from handrail.desk.reduce import reduce
from handrail.desk.state import Content, DeskState
from handrail.errors import InvalidAction
from tests.cases import each
from tests.unit.desk.scene import NOW, Scene, creating


def update(scene: Scene, **fields: Any) -> Any:
    scene.do("window.updateContent", "a", **fields)
    return scene.window("a").content.data


def test_insert_counts_code_points_not_utf_16_units() -> None:
    scene = Scene()
    scene.create("a", content={"renderer": "text", "data": "👍👍"})
    assert update(scene, operation={"op": "insertAt", "data": "-", "position": 1}) == "👍-👍"
    assert update(scene, operation={"op": "insertAt", "data": "!", "position": 3}) == "👍-👍!"


def test_an_insert_beyond_the_end_is_an_error_that_says_where_the_end_is() -> None:
    error = Scene("a").refused(
        "window.updateContent", "a", operation={"op": "insertAt", "data": "!", "position": 6}
    )
    assert error.details["path"] == "operation.position"
    assert "0…5" in error.message


def test_a_changed_renderer_is_what_the_operation_is_checked_against() -> None:
    scene = Scene("a")
    table = {"headers": [], "rows": [["x"]]}
    assert update(scene, operation={"op": "replace", "data": table}, renderer="table") == table
    error = scene.refused(
        "window.updateContent", "a", operation={"op": "append", "data": "x"}, renderer="markdown"
    )
    assert error.details["path"] == "renderer"
    assert update(scene, operation={"op": "clear"}, renderer="text") == ""


def test_text_cannot_grow_beyond_its_limit_by_appending() -> None:
    scene = Scene()
    scene.create("a", content={"renderer": "text", "data": "x" * 1_500_000})
    error = scene.refused("window.updateContent", "a", operation={"op": "append", "data": "y" * 500_001})
    assert error.details["path"] == "operation.data"
    assert len(update(scene, operation={"op": "append", "data": "y" * 500_000})) == 2_000_000


@each("url", ["https://example.org/x?y#z", "http://localhost:3000", "app:phone", "app:n_2"])
def test_a_frame_shows_pages_and_apps(url: str) -> None:
    scene = Scene()
    scene.create("a", content={"renderer": "iframe", "data": url})
    assert scene.window("a").content == Content("iframe", url)
    scene.create("b", content={"renderer": "iframe", "data": {"url": url}})
    assert scene.window("b").content == Content("iframe", {"url": url})


@each(
    "url",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "blob:https://x/1",
        "//example.org", "/api/approvals", "app:", "app:../x", "app:a/b", "https://", "https:example.org",
        "https://user@example.org", "java\tscript:alert(1)", " https://example.org", "https://exa mple.org",
        "https://example.org\\@evil", "about:blank", "https://[::1", "https://h:99999",
    ],
)  # fmt: skip
@each("form", ["string", "object"])
def test_a_frame_shows_nothing_else(url: str, form: str) -> None:
    scene = Scene()
    data = url if form == "string" else {"url": url}
    content = {"renderer": "iframe", "data": data}
    with pytest.raises(InvalidAction) as caught:
        scene.create("a", content=content)
    assert caught.value.details["path"] == ("content.data" if form == "string" else "content.data.url")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8420/", "HTTP://LocalHost:8420/x"])
def test_no_frame_shows_the_desk_itself(url: str) -> None:
    hosts = frozenset({"127.0.0.1:8420", "localhost:8420"})
    act = creating("a", content={"renderer": "iframe", "data": url})
    with pytest.raises(InvalidAction, match="the desk itself"):
        reduce(DeskState(), act, "ada", False, NOW, hosts)


@each(
    ("asked", "got"),
    [
        ("", ""),
        ("allow-scripts", "allow-scripts"),
        ("allow-same-origin allow-scripts allow-top-navigation", "allow-scripts"),
        ("ALLOW-FORMS", "allow-forms"),
    ],
)
def test_an_agents_sandbox_can_only_narrow_ours(asked: str, got: str) -> None:
    scene = Scene()
    scene.create("a", content={"renderer": "iframe", "data": {"url": "app:notes", "sandbox": asked}})
    assert scene.window("a").content.data == {"url": "app:notes", "sandbox": got}
    assert set(narrow_sandbox(asked).split()) <= set(SANDBOX)


@pytest.mark.parametrize("op", ["setContent", "replace"])
def test_the_rule_for_frames_holds_for_every_way_in(op: str) -> None:
    scene = Scene("a")
    bad = "javascript:alert(1)"
    if op == "setContent":
        error = scene.refused("window.setContent", "a", content={"renderer": "iframe", "data": bad})
        assert error.details["path"] == "content.data"
    else:
        error = scene.refused(
            "window.updateContent", "a", operation={"op": "replace", "data": bad}, renderer="iframe"
        )
        assert error.details["path"] == "operation.data"


OWN = ["data:image/png;base64,AAAA", "/api/storage/a/b.png", "/static/icon.svg", "data:image/svg+xml,<svg/>"]
FOREIGN = [
    "https://example.org/x.png", "//example.org/x.png", "data:text/html,x", "javascript:x", "/api/approvals",
    "/api/storage/../approvals", "/api/storage/%2e%2e/approvals", "/api/storage/..\\x", "x.png",
]  # fmt: skip


@each("src", OWN)
def test_a_component_shows_the_desks_own_pictures(src: str) -> None:
    assert is_own_picture(src)
    picture = {"type": "image", "src": src}
    Scene().create("a", content={"renderer": "component", "data": {"components": [picture]}})


@each("src", FOREIGN)
def test_a_component_shows_no_picture_from_elsewhere(src: str) -> None:
    layout = {"components": [{"type": "badge", "label": "x"}, {"type": "image", "src": src}]}
    scene = Scene()
    told = scene.run(creating("a", content={"renderer": "component", "data": layout}))
    assert [one["path"] for one in told["not_shown"]] == ["content.data.components[1].src"]
    [window] = scene.state.windows.values()
    assert src not in str(window.content.data)
