"""Seed 004: what windows show, the seven components, and the operations that each renderer allows."""

from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.content import (
    is_component_layout,
    is_content_update_operation_valid,
    is_iframe_content_data,
    is_table_content_data,
    is_window_content_data,
)
from handrail.protocol.read import action_from
from tests.cases import each

TABLE = {"headers": ["Name", "Age"], "rows": [["Ada", "36"], []]}
LAYOUT = {"components": [{"type": "badge", "label": "New"}], "cols": [8, 2], "gap": "md"}
GOOD: dict[str, list[Any]] = {
    "markdown": ["", "# Hi"],
    "html": ["<b>Hi</b>"],
    "text": ["Hi 😀"],
    "table": [TABLE, {"headers": [], "rows": []}],
    "iframe": ["https://example.org", {"url": "/apps/x"}, {"url": "/apps/x", "sandbox": "allow-scripts"}],
    "component": [LAYOUT, {"components": []}, {"components": [], "cols": 3}],
}
TEXTS = ("markdown", "html", "text")
NEVER: list[Any] = [None, 5, True, [], {}, {"data": ""}]


def shows(renderer: str, data: Any) -> Any:
    content = {"renderer": renderer, "data": data}
    action = action_from({"type": "window.setContent", "windowId": "w", "content": content})
    return action.to_dict()["content"]


def refused(renderer: str, data: Any) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        shows(renderer, data)
    assert caught.value.details["path"].startswith("content.data")
    return caught.value


@each(("renderer", "data"), [(kind, data) for kind, all_ in GOOD.items() for data in all_])
def test_a_renderer_shows_its_own_data(renderer: str, data: Any) -> None:
    assert shows(renderer, data) == {"renderer": renderer, "data": data}
    assert is_window_content_data(renderer, data)


@each("renderer", GOOD)
@each("other", GOOD)
def test_a_renderer_does_not_show_what_belongs_to_another(renderer: str, other: str) -> None:
    strings = (*TEXTS, "iframe")
    for data in GOOD[other]:
        fits = renderer == other or (isinstance(data, str) and renderer in strings)
        fits = fits and not (renderer == "iframe" and data == "")
        assert is_window_content_data(renderer, data) is fits


@each("renderer", GOOD)
@each("data", NEVER)
def test_no_renderer_shows_nonsense(renderer: str, data: Any) -> None:
    assert not is_window_content_data(renderer, data)
    refused(renderer, data)


@pytest.mark.parametrize("renderer", ["pdf", "", "Text", None, []])
def test_an_unknown_renderer_shows_nothing(renderer: Any) -> None:
    assert not is_window_content_data(renderer, "text")
    assert not is_content_update_operation_valid(renderer, {"op": "clear"})


@each(
    ("value", "good"),
    [
        (TABLE, True), ({"headers": [], "rows": []}, True), ({"headers": ["a"]}, False),
        ({"rows": []}, False), ({"headers": "ab", "rows": []}, False),
        ({"headers": [1], "rows": []}, False), ({"headers": [], "rows": ["ab"]}, False),
        ({"headers": [], "rows": [[1]]}, False), ({"headers": [], "rows": [], "footer": []}, False),
        ("text", False), (None, False),
    ],
)  # fmt: skip
def test_a_table_is_headers_and_rows_of_text(value: Any, good: bool) -> None:
    assert is_table_content_data(value) is good


@each(
    ("value", "good"),
    [
        ("https://example.org", True), ({"url": "https://example.org"}, True),
        ({"url": "https://example.org", "sandbox": ""}, True), ("", False), ({"url": ""}, False),
        ({"sandbox": "allow-scripts"}, False), ({"url": 5}, False), ({"url": "a", "sandbox": True}, False),
        ({"url": "a", "allow": "camera"}, False), (None, False),
    ],
)  # fmt: skip
def test_an_iframe_is_an_address_or_an_object_with_one(value: Any, good: bool) -> None:
    assert is_iframe_content_data(value) is good


# One component of the seed each: required fields, and every optional field with all its good values.
COMPONENTS: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "button": (
        {"label": "Go", "action": "go"},
        {
            "variant": ["primary", "secondary", "ghost", "danger"], "size": ["sm", "md", "lg"],
            "icon": ["star"], "disabled": [True, False], "parallel": [True, False], "submitForm": ["f1"],
        },
    ),
    "input": (
        {"name": "email"},
        {
            "formId": ["f1"], "label": ["E-mail"], "placeholder": ["you@example.org"],
            "defaultValue": ["", "a"], "variant": ["text", "email", "password", "number", "url"],
            "rows": [1, 5], "disabled": [True, False],
        },
    ),
    "select": (
        {"name": "size", "options": [{"value": "s", "label": "Small"}]},
        {
            "formId": ["f1"], "label": ["Size"], "defaultValue": ["s"], "placeholder": ["Choose"],
            "disabled": [True, False],
        },
    ),
    "text": (
        {"content": "Hello"},
        {
            "variant": ["body", "heading", "subheading", "caption", "code"],
            "color": ["default", "muted", "accent", "success", "warning", "error"],
            "textAlign": ["left", "center", "right"],
        },
    ),
    "badge": ({"label": "New"}, {"variant": ["default", "success", "warning", "error", "info"]}),
    "progress": (
        {"value": 50},
        {
            "label": ["Half"], "variant": ["default", "success", "warning", "error"],
            "showValue": [True, False],
        },
    ),
    "image": (
        {"src": "a.png"},
        {"width": [10, 10.5, "50%"], "height": [10, "2em"], "fit": ["contain", "cover", "fill"]},
    ),
}  # fmt: skip
GOOD_FIELDS = [
    (kind, field, value)
    for kind, (_, optional) in COMPONENTS.items()
    for field, values in optional.items()
    for value in values
]


def layout(kind: str, **changed: Any) -> dict[str, Any]:
    fields = {**COMPONENTS[kind][0], **changed}
    known = {key: value for key, value in fields.items() if value is not ...}
    return {"components": [{"type": kind, **known}]}


@each("kind", COMPONENTS)
def test_a_component_needs_only_its_required_fields(kind: str) -> None:
    assert is_component_layout(layout(kind))
    assert shows("component", layout(kind))["data"] == layout(kind)


@each(("kind", "field", "value"), GOOD_FIELDS)
def test_a_component_takes_every_value_of_the_seed(kind: str, field: str, value: Any) -> None:
    given = layout(kind, **{field: value})
    assert shows("component", given)["data"] == given


@each(("kind", "field"), [(kind, field) for kind, (required, _) in COMPONENTS.items() for field in required])
def test_a_component_may_not_lack_a_required_field(kind: str, field: str) -> None:
    assert not is_component_layout(layout(kind, **{field: ...}))
    path = refused("component", layout(kind, **{field: ...})).details["path"]
    assert path == f"content.data.components[0].{field}"


@each(("kind", "field"), sorted({(kind, field) for kind, field, _ in GOOD_FIELDS}))
def test_a_component_refuses_another_type_in_a_field(kind: str, field: str) -> None:
    path = refused("component", layout(kind, **{field: {"a": 1}})).details["path"]
    assert path == f"content.data.components[0].{field}"


@each(
    ("kind", "field", "words"),
    [(kind, field, values) for kind, (_, optional) in COMPONENTS.items() for field, values in optional.items()
     if field in ("variant", "size", "color", "textAlign", "fit")],
)  # fmt: skip
def test_a_choice_of_a_component_takes_no_other_word(kind: str, field: str, words: list[str]) -> None:
    assert refused("component", layout(kind, **{field: "other"})).message.endswith(", ".join(words))


@each(
    "value",
    [
        layout("progress", value=-1),
        layout("progress", value=101),
        layout("progress", value="50"),
        layout("progress", value=True),
        layout("input", rows=0),
        layout("image", width=-1),
        layout("image", width=""),
        layout("select", options=[{"value": "s"}]),
        layout("select", options=["s"]),
        layout("button", onclick="alert(1)"),
        {"components": [{"type": "slider"}]},
        {"components": [{"label": "no type"}]},
        {"components": [layout("badge")]},
        {"components": {}},
        {"cols": 2},
        {"components": [], "cols": 0},
        {"components": [], "cols": []},
        {"components": [], "cols": [0, 1]},
        {"components": [], "cols": "2"},
        {"components": [], "gap": "xl"},
        {"components": [], "rows": 2},
    ],
)
def test_a_layout_that_the_seed_does_not_know_is_refused(value: dict[str, Any]) -> None:
    assert not is_component_layout(value)
    refused("component", value)


@each("gap", ["none", "sm", "md", "lg"])
@each("cols", [1, 24, [8, 2], [0.5, 1]])
def test_a_layout_has_columns_or_ratios_and_a_gap(cols: Any, gap: str) -> None:
    assert is_component_layout({"components": [], "cols": cols, "gap": gap})


OPERATIONS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"op": "append", "data": "a"}, TEXTS),
    ({"op": "prepend", "data": "a"}, TEXTS),
    ({"op": "insertAt", "data": "a", "position": 0}, TEXTS),
    ({"op": "clear"}, tuple(GOOD)),
    ({"op": "replace", "data": "a"}, (*TEXTS, "iframe")),
    ({"op": "replace", "data": TABLE}, ("table",)),
    ({"op": "replace", "data": {"url": "a"}}, ("iframe",)),
    ({"op": "replace", "data": LAYOUT}, ("component",)),
    ({"op": "replace", "data": {"nothing": 1}}, ()),
    ({"op": "append"}, ()),
    ({"op": "append", "data": TABLE}, ()),
    ({"op": "insertAt", "data": "a"}, ()),
    ({"op": "insertAt", "data": "a", "position": -1}, ()),
    ({"op": "insertAt", "data": "a", "position": 1.5}, ()),
    ({"op": "clear", "data": ""}, ()),
    ({"op": "replace"}, ()),
    ({"op": "cut"}, ()),
    ({}, ()),
]


@each("renderer", GOOD)
@each(("operation", "renderers"), OPERATIONS)
def test_an_operation_is_legal_for_the_renderers_of_the_seeds_table(
    operation: dict[str, Any], renderers: tuple[str, ...], renderer: str
) -> None:
    legal = renderer in renderers
    assert is_content_update_operation_valid(renderer, operation) is legal
    update = {"type": "window.updateContent", "windowId": "w", "operation": operation, "renderer": renderer}
    if legal:
        assert action_from(update).to_dict() == update
    else:
        with pytest.raises(InvalidAction):
            action_from(update)


@pytest.mark.parametrize("operation", [None, "clear", [], 5])
def test_what_is_no_operation_is_legal_nowhere(operation: Any) -> None:
    assert not any(is_content_update_operation_valid(renderer, operation) for renderer in GOOD)
