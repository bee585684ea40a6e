"""Methods of the uiautomator2 server that aim at a selector or a found object: look, wait, click, text."""

from __future__ import annotations

from typing import Any

from handrail_sim.channels.u2.rpc import method, not_found
from handrail_sim.channels.u2.selector import Selector, count, find_in_active
from handrail_sim.channels.u2.server import OBJECT_POLL_MS, POLL_MS, Server
from handrail_sim.screen.accessibility import Node, active_root

CLICK_MS = 50.0
LONG_CLICK_MS = 750.0
CORNER_PX = 5  # distance from the corner of topleft and bottomright clicks

Target = Selector | str
CORNERS = {"br": "br", "bottomright": "br", "tl": "tl", "topleft": "tl", "c": "center", "center": "center"}


def _rect(bounds: tuple[int, int, int, int]) -> dict[str, int]:
    left, top, right, bottom = bounds
    return {"bottom": bottom, "left": left, "right": right, "top": top}


def info(node: Node) -> dict[str, Any]:
    """ObjInfo."""
    return {
        "bounds": _rect(node.bounds),
        "checkable": node.checkable,
        "checked": node.checked,
        "childCount": len(node.children),
        "className": node.cls,
        "clickable": node.clickable,
        "contentDescription": node.desc or None,
        "enabled": node.enabled,
        "focusable": node.focusable,
        "focused": node.focused,
        "longClickable": node.long_clickable,
        "packageName": node.package,
        "resourceName": node.resource_id or None,
        "scrollable": node.scrollable,
        "selected": node.selected,
        "text": node.text or None,
        "visibleBounds": _rect(node.bounds),
    }


@method("exist", "selector")
@method("exist", "text")
async def _exist(server: Server, target: Target) -> bool:
    server.phone.catch_up()
    if isinstance(target, str) and target not in server.objects:
        return False
    selector = server.object(target) if isinstance(target, str) else target
    return find_in_active(selector, active_root(server.phone)) is not None


@method("objInfo", "selector")
@method("objInfo", "text")
async def _obj_info(server: Server, target: Target) -> dict[str, Any]:
    return info(server.need(target))


@method("count", "selector")
async def _count_matches(server: Server, selector: Selector) -> int:
    server.phone.catch_up()
    return count(selector, active_root(server.phone))


@method("objInfoOfAllInstances", "selector")
async def _all_infos(server: Server, selector: Selector) -> list[dict[str, Any]]:
    server.phone.catch_up()
    root = active_root(server.phone)
    if selector.last.instance is not None:
        node = find_in_active(selector, root)
        return [] if node is None else [info(node)]
    found = (find_in_active(selector.with_instance(number), root) for number in range(count(selector, root)))
    return [info(node) for node in found if node is not None]


def _poll_ms(target: Target) -> float:
    return POLL_MS if isinstance(target, Selector) and target.is_plain else OBJECT_POLL_MS


@method("waitForExists", "selector", "int")
@method("waitForExists", "text", "int")
async def _wait_for_exists(server: Server, target: Target, timeout_ms: int) -> bool:
    return await server.until(lambda: server.find(target) is not None, timeout_ms, _poll_ms(target))


@method("waitUntilGone", "selector", "int")
@method("waitUntilGone", "text", "int")
async def _wait_until_gone(server: Server, target: Target, timeout_ms: int) -> bool:
    return await server.until(lambda: server.find(target) is None, timeout_ms, _poll_ms(target))


# clicks


async def press(server: Server, node: Node, corner: str, duration_ms: float) -> bool:
    """A finger on a node; true if something answered."""
    left, top, right, bottom = node.bounds
    places = {"br": (right - CORNER_PX, bottom - CORNER_PX), "tl": (left + CORNER_PX, top + CORNER_PX)}
    x, y = places.get(corner, node.center)
    before = server.events
    await server.phone.long_press(x, y, duration_ms)
    return await server.acknowledged(before)


@method("click", "selector")
@method("click", "text")
async def _click(server: Server, target: Target) -> bool:
    return await press(server, server.need(target), "center", CLICK_MS)


@method("click", "selector", "text")
@method("click", "text", "text")
async def _click_corner(server: Server, target: Target, corner: str | None) -> bool:
    place = CORNERS.get((corner or "center").lower())
    return place is not None and await press(server, server.need(target), place, CLICK_MS)


@method("longClick", "selector")
@method("longClick", "text")
async def _long_click(server: Server, target: Target) -> bool:
    await press(server, server.need(target), "center", LONG_CLICK_MS)
    return True


@method("longClick", "selector", "text")
@method("longClick", "text", "text")
async def _long_click_corner(server: Server, target: Target, corner: str | None) -> bool:
    place = CORNERS.get((corner or "center").lower())
    return place is not None and await press(server, server.need(target), place, LONG_CLICK_MS)


@method("clickAndWaitForNewWindow", "selector", "int")
@method("clickAndWaitForNewWindow", "text", "int")
async def _click_and_wait(server: Server, target: Target, timeout_ms: int) -> bool:
    phone, seen = server.phone, server.events
    shown = [window.title for window in phone.windows()]
    await press(server, server.need(target), "center", CLICK_MS)

    def changed() -> bool:
        return server.events > seen and [window.title for window in phone.windows()] != shown

    return await server.until(changed, timeout_ms)


# text


@method("getText", "selector")
@method("getText", "text")
async def _get_text(server: Server, target: Target) -> str:
    return server.need(target).text


@method("setText", "selector", "text")
@method("setText", "text", "text")
async def _set_text(server: Server, target: Target, text: str | None) -> bool:
    """A plain selector's field is clicked first, so it has the focus and the keyboard is up."""
    node = server.need(target)
    if isinstance(target, Selector) and target.is_plain:
        await press(server, node, "center", CLICK_MS)
        node = server.need(target) if server.find(target) is not None else node
    return _put(server, node, text or "")


@method("clearTextField", "selector")
@method("clearTextField", "text")
async def _clear_text_field(server: Server, target: Target) -> None:
    _put(server, server.need(target), "")


def _put(server: Server, node: Node, text: str) -> bool:
    """ACTION_SET_TEXT; what is no field refuses it."""
    return node.enabled and server.phone.set_text(node.view, text)


# found objects


@method("getUiObject", "selector")
async def _get_ui_object(server: Server, selector: Selector) -> str:
    return server.keep(selector)


@method("getUiObjects")
async def _get_ui_objects(server: Server) -> list[str]:
    return list(server.objects)


@method("removeUiObject", "text")
async def _remove_ui_object(server: Server, name: str) -> None:
    server.objects.pop(name, None)


@method("getChild", "text", "selector")
async def _get_child(server: Server, name: str, selector: Selector) -> str | None:
    known = server.objects.get(name)
    return None if known is None else server.keep(known.then_child(selector))


@method("getFromParent", "text", "selector")
async def _get_from_parent(server: Server, name: str, selector: Selector) -> str | None:
    known = server.objects.get(name)
    return None if known is None else server.keep(known.then_sibling(selector))


def _row(server: Server, group: Selector, rows: Selector, name: str, words: str) -> str:
    """The row of a group that has these words, or holds something that has them."""
    root = active_root(server.phone)
    every = group.then_child(rows)
    wanted = Selector(((name, words),))
    for number in range(count(every, root)):
        row = every.with_instance(number)
        node = find_in_active(row, root)
        if node is not None and (
            wanted.matches(node, fold=False) or any(wanted.matches(inner, fold=False) for inner in node)
        ):
            return server.keep(row)
    raise not_found(f'for {name}= "{words}"')


@method("childByText", "selector", "selector", "text")
async def child_by_text(server: Server, group: Selector, rows: Selector, words: str) -> str:
    """The row of a group, scrolled to, that has this text or holds something that has it."""
    await _bring(server, group, "text", words)
    return _row(server, group, rows, "text", words)


@method("childByDescription", "selector", "selector", "text")
async def child_by_description(server: Server, group: Selector, rows: Selector, words: str) -> str:
    """The same by description."""
    await _bring(server, group, "description", words)
    return _row(server, group, rows, "description", words)


@method("childByText", "selector", "selector", "text", "bool")
async def _child_by_text_maybe(
    server: Server, group: Selector, rows: Selector, words: str, scroll: bool
) -> str:
    if scroll:
        await _bring(server, group, "text", words)
    return _row(server, group, rows, "text", words)


@method("childByDescription", "selector", "selector", "text", "bool")
async def _child_by_description_maybe(
    server: Server, group: Selector, rows: Selector, words: str, scroll: bool
) -> str:
    if scroll:
        await _bring(server, group, "description", words)
    return _row(server, group, rows, "description", words)


@method("childByInstance", "selector", "selector", "int")
async def _child_by_instance(server: Server, group: Selector, rows: Selector, number: int) -> str:
    return server.keep(group.then_child(rows).with_instance(number))


async def _bring(server: Server, group: Selector, name: str, words: str) -> None:
    """A scrollable group is searched by scrolling."""
    from handrail_sim.channels.u2.scrolling import scroll_into_view  # noqa: PLC0415 - the two files need each other

    node = server.find(group)
    if node is not None and node.scrollable:
        await scroll_into_view(server, group, Selector(((name, words),)), vertical=True)
