"""`-android uiautomator`: UiSelector and UiScrollable, as u2's selectors and swipes."""

from __future__ import annotations

from handrail_sim.channels.appium.java_calls import Argument, BadExpression, Called, Made, read
from handrail_sim.channels.u2.objects import child_by_description, child_by_text
from handrail_sim.channels.u2.scrolling import SEARCH_SWIPES, scroll_into_view
from handrail_sim.channels.u2.selector import FIELDS, Selector, pattern
from handrail_sim.channels.u2.server import Server

_STEPS = {"childSelector": "child", "fromParent": "sibling"}
_ONLY = (
    "Must only call the 'scrollIntoView' method OR methods on UiScrollable which return UiScrollable or "
    "UiObject objects"
)
_LISTS = {"setAsVerticalList": True, "setAsHorizontalList": False}
_CHILDREN = {"getChildByText": child_by_text, "getChildByDescription": child_by_description}


def selector(made: Argument) -> Selector:
    """`new UiSelector()…` as a selector."""
    if not isinstance(made, Made) or made.name != "UiSelector" or made.arguments:
        raise BadExpression("Expected an argument of type UiSelector")
    criteria: list[tuple[str, object]] = []
    instance: int | None = None
    step, then = "", None
    for call in made.calls:
        if call.name in _STEPS:
            step, then = _STEPS[call.name], selector(_only(call))
        elif call.name == "instance":
            instance = _whole(call)
        elif call.name in FIELDS:
            criteria.append((call.name, _criterion(call)))
        else:
            raise BadExpression(f"UiSelector has no {call.name} method")
    return Selector(tuple(criteria), instance, step, then)


def _only(call: Called) -> Argument:
    if len(call.arguments) != 1:
        raise BadExpression(f"{call.name} takes one argument")
    return call.arguments[0]


def _whole(call: Called) -> int:
    value = _only(call)
    if isinstance(value, bool) or not isinstance(value, float):
        raise BadExpression(f"{call.name} takes a number")
    return int(value)


def _criterion(call: Called) -> object:
    value = _only(call)
    if call.name == "index":
        return _whole(call)
    if isinstance(value, Made) or (isinstance(value, float) and not isinstance(value, bool)):
        raise BadExpression(f"{call.name} does not take that argument")
    if isinstance(value, str) and FIELDS[call.name].compare == "matches":
        pattern(value)
    return value


async def prepare(server: Server, text: str) -> list[Selector]:
    """What each statement means; a UiScrollable scrolls first."""
    return [
        await _scroll(server, made) if made.name == "UiScrollable" else selector(made) for made in read(text)
    ]


async def _scroll(server: Server, made: Made) -> Selector:
    if len(made.arguments) != 1:
        raise BadExpression("UiScrollable takes a UiSelector")
    group = wanted = selector(made.arguments[0])
    vertical, swipes = True, SEARCH_SWIPES
    for call in made.calls:
        if call.name in _LISTS:
            vertical = _LISTS[call.name]
        elif call.name == "setMaxSearchSwipes":
            swipes = _whole(call)
        elif call.name == "scrollIntoView":
            wanted = selector(_only(call))
            server.need(group)
            await scroll_into_view(server, group, wanted, vertical=vertical, swipes=swipes)
        elif call.name != "setSwipeDeadZonePercentage":
            wanted = await _child(server, group, call)
    return wanted


async def _child(server: Server, group: Selector, call: Called) -> Selector:
    """The calls of UiScrollable that give a UiObject; those that only scroll give none."""
    if call.name not in {*_CHILDREN, "getChildByInstance"} or len(call.arguments) < 2:
        raise BadExpression(_ONLY)
    rows, what = selector(call.arguments[0]), call.arguments[1]
    if call.name == "getChildByInstance":
        return group.then_child(rows).with_instance(int(what) if isinstance(what, float) else 0)
    return server.object(await _CHILDREN[call.name](server, group, rows, str(what)))
