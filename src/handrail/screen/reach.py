"""Whether a finger can reach an element, and where: on the screen, with a size, enabled, not covered.

Dumps tell bounds and clickability, not opacity: what covers is a later window, or a later-drawn node that
takes touches. A later-drawn scroll container or plain text lets them through. Where a dump does not tell
which of two is drawn later, neither is refused: the touch goes to a free place if there is one.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from handrail.errors import ElementNotInteractable
from handrail.screen.node import (
    ANYWHERE,
    CLIPPED,
    ENABLED,
    HIDDEN,
    SCROLLABLE,
    Bounds,
    Node,
    RefOf,
    Screen,
    ScreenPoint,
    no_refs,
    once_per_screen,
    receiver,
    scrolls,
    touchable,
)
from handrail.screen.text import describe
from handrail.screen.windows import (
    SYSTEM_UI,
    is_drawn_over,
    is_input_method,
    is_web_veil,
    is_window,
    layers_behind,
    modal_above,
    on_screen,
    paint_order,
)

_FINGER_PX = 24  # a free strip narrower than this is taken only if there is no better one
_KEYBOARD_SHARE = 0.65  # of the screen's height
_MOST_EDGES = 24  # covering nodes whose edges are tried as borders of a free place
_FIELDS = frozenset({"text_field", "spinner"})


def visible_part(screen: Screen, node: Node) -> Bounds:
    """The bounds clipped by the screen and every scroll container around; area 0 if nothing is visible."""
    return node.bounds.intersect(_windows_around(screen)[node.order])


@once_per_screen
def _windows_around(screen: Screen) -> list[Bounds]:
    """By order: what the screen and the scroll containers around a node leave of it at most."""
    around = [screen.bounds if screen.bounds.area else ANYWHERE] * len(screen.nodes)
    for node in screen.nodes:
        limit = around[node.order]
        if node.children and scrolls(node):
            limit = limit.intersect(node.bounds)
        for child in node.children:
            around[child.order] = limit
    return around


def tap_point(screen: Screen, node: Node, ref_of: RefOf = no_refs) -> ScreenPoint:
    """Where to touch: the centre of the visible part, or another free place of it.

    Raises `ElementNotInteractable` with `reason` disabled, zero-size, off-screen or covered.
    """
    touched = receiver(node) or node
    if not node.flags & ENABLED or not touched.flags & ENABLED:
        hint = "Wait until it is enabled, or do first what the screen asks for."
        raise _not_interactable(node, ref_of, "disabled", "is disabled", hint=hint)
    if not node.bounds.area:
        hint = "It is there and not shown; look for what opens it."
        raise _not_interactable(node, ref_of, "zero-size", f"has no size: {node.bounds}", hint=hint)
    part = visible_part(screen, node)
    if not part.area or node.flags & HIDDEN:
        where = "is not visible" if part.area else f"is off the screen, at {node.bounds}"
        raise _not_interactable(node, ref_of, "off-screen", where, hint="scroll_to it first.")
    if node.covered_by is not None and screen.is_exact:
        return _surface_point(screen, node, part, ref_of)
    if modal := modal_above(screen, node):
        raise _not_interactable(
            node, ref_of, "covered", f"is behind {describe(modal, ref_of(modal))}, which takes every touch",
            hint="Answer or close what is in front first.",
        )  # fmt: skip
    above = nodes_covering(screen, node, part)
    if node.covered_by is not None:
        return _raise_if_covered_above(_surface_point(screen, node, part, ref_of), above, node, ref_of)
    centre = part.center
    hit, inside = _topmost_at(above, centre), _touchables_inside(screen, node)
    for blocked in (above + inside + possible_covers(screen, node, part), above + inside, above):
        if _topmost_at(blocked, centre) is None:
            return centre
        if free := _free_place(part, [other.bounds for other in blocked]):
            return free
    assert hit is not None  # noqa: S101 - the last of the three blocked it
    raise _not_interactable(
        node, ref_of, "covered", f"is covered by {describe(hit, ref_of(hit))}",
        hint="Close what covers it, or scroll it free.",
    )  # fmt: skip


def _surface_point(screen: Screen, node: Node, part: Bounds, ref_of: RefOf) -> ScreenPoint:
    """The point that the surface itself reports as reachable; raises what it reports to be in the way."""
    if not node.covered_by:
        return node.touch_at or part.center
    if node.covered_by == CLIPPED:
        raise _not_interactable(
            node, ref_of, "covered", "is cut off by what is around it", hint="scroll_to it first."
        )
    over = node_by_native_id(screen, node.covered_by)
    what = describe(over, ref_of(over)) if over is not None else "something that is not named"
    raise _not_interactable(
        node, ref_of, "covered", f"is covered by {what}", hint="Close what covers it, or scroll it free."
    )


def _raise_if_covered_above(point: ScreenPoint, above: list[Node], node: Node, ref_of: RefOf) -> ScreenPoint:
    """A web page knows what covers its elements inside the page, but not what the screen shows above it."""
    hit = _topmost_at([cover for cover in above if not cover.native_id], point)
    if hit is None:
        return point
    raise _not_interactable(
        node, ref_of, "covered", f"is covered by {describe(hit, ref_of(hit))}",
        hint="Close what covers it, or scroll it free.",
    )  # fmt: skip


def node_by_native_id(screen: Screen, native_id: str) -> Node | None:
    return next((node for node in screen.nodes if node.native_id == native_id), None)


def _not_interactable(
    node: Node, ref_of: RefOf, reason: str, says: str, *, hint: str
) -> ElementNotInteractable:
    ref = ref_of(node)
    return ElementNotInteractable(f"{describe(node, ref)} {says}", hint=hint, reason=reason, ref=ref)


def nodes_covering(screen: Screen, node: Node, part: Bounds) -> list[Node]:
    """What is known to be drawn over `part` of a node, takes touches, and is of another branch; topmost last.

    Over a layer that is behind another one the words of that other one count too: nobody would touch there.
    """
    painted = paint_order(screen)
    start = node.end if painted is screen.nodes else painted.index(node) + 1
    layer = next(
        (candidate for candidate in layers_behind(screen) if candidate.order <= node.order < candidate.end),
        None,
    )
    return [
        other
        for other in painted[start:]
        if other.bounds.intersect(part).area
        and (_takes_touches(screen, other) or (layer is not None and _has_words_over(layer, other)))
        and not other.is_inside(node) and visible_part(screen, other).intersect(part).area
        and is_drawn_over(screen, other, node)
    ]  # fmt: skip


def possible_covers(screen: Screen, node: Node, part: Bounds) -> list[Node]:
    """What takes touches at `part` of a node and may be drawn over or under it: the dump does not tell."""
    touched = receiver(node)
    return [
        other
        for other in (_overlaps(screen).get(touched, ()) if touched else filter(touchable, screen.nodes))
        if other.bounds.intersect(part).area and is_drawn_over(screen, other, node) is None
        and _takes_touches(screen, other) and visible_part(screen, other).intersect(part).area
    ]  # fmt: skip


def may_be_covered_at(screen: Screen, node: Node, point: ScreenPoint) -> bool:
    """Whether a touch may reach something else, because the dump does not tell what lies on top there."""
    at = Bounds(point.x, point.y, point.x + 1, point.y + 1)
    in_layer = any(layer.order <= node.order < layer.end for layer in rival_layers(screen))
    return in_layer or bool(possible_covers(screen, node, at))


@once_per_screen
def possibly_covered(screen: Screen) -> frozenset[int]:
    """Orders of elements on which a finger finds no place that nothing of unknown depth takes.

    Also all that can be touched in two layers that both fill their parent. An icon on a field is left out.
    """
    shown, layers = on_screen(screen), rival_layers(screen)
    marked = {
        node.order
        for layer in layers
        for node in screen.inside(layer)
        if shown[node.order] and touchable(node)
    }
    for node, overlapping in _overlaps(screen).items():
        if node.covered_by is not None or node.order in marked:
            continue
        unknown = [
            other.bounds
            for other in overlapping
            if is_drawn_over(screen, other, node) is None
            and _takes_touches(screen, other)
            # A field holds its icons, such as the eye of a password, and covers none.
            and not (
                other.role in _FIELDS and not other.children and node.bounds.area * 2 <= other.bounds.area
            )
        ]
        if unknown and not _finger_fits(visible_part(screen, node), unknown):
            marked.add(node.order)
    return frozenset(marked)


def _finger_fits(part: Bounds, taken: list[Bounds]) -> bool:
    """Whether a square of a finger's width has a free place in `part`: a free upper left corner."""
    wide, tall = (max(0, min(_FINGER_PX, length) - 1) for length in (part.width, part.height))
    corners = Bounds(part.left, part.top, part.right - wide, part.bottom - tall)
    grown = [Bounds(left - wide, top - tall, right, bottom) for left, top, right, bottom in taken]
    return _free_place(corners, grown) is not None


@once_per_screen
def _overlaps(screen: Screen) -> dict[Node, list[Node]]:
    """Touchables of other branches that share a part of the screen, for each touchable that has some."""
    pairs: defaultdict[Node, list[Node]] = defaultdict(list)
    active: list[Node] = []
    shown = on_screen(screen)
    touched = [node for node in screen.nodes if shown[node.order] and touchable(node)]
    for node in sorted(touched, key=lambda each: each.bounds.top):
        left, top, right, _ = node.bounds
        active = [other for other in active if other.bounds[3] > top]
        for other in [other for other in active if other.bounds[0] < right and other.bounds[2] > left]:
            if not other.order <= node.order < other.end and not node.order <= other.order < node.end:
                pairs[node].append(other)
                pairs[other].append(node)
        active.append(node)
    return pairs


@once_per_screen
def rival_layers(screen: Screen) -> list[Node]:
    """Siblings that fill their parent and can be touched, where the dump does not tell their order."""
    rivals: list[Node] = []
    for parent in screen.nodes:
        if len(parent.children) < 2:
            continue
        full = [child for child in parent.children if child.bounds == parent.bounds and child.children]
        if len(full) < 2 or not parent.class_name or not parent.bounds.area:
            continue
        full = [child for child in full if any(map(touchable, screen.inside(child)))]
        rivals += [
            layer
            for layer in full
            if any(is_drawn_over(screen, other, layer) is None for other in full if other is not layer)
        ]
    return rivals


def _has_words_over(layer: Node, node: Node) -> bool:
    is_outside = not layer.order <= node.order < layer.end
    return is_outside and not node.children and bool(node.text or node.description)


def _takes_touches(screen: Screen, node: Node) -> bool:
    if node.flags & HIDDEN:
        return False
    if is_input_method(node.package_name):
        # A keyboard's window may span the screen; only its keys and its strip are in the way.
        return not node.children or (is_window(node) and node.bounds.height < screen.height * _KEYBOARD_SHARE)
    if is_window(node):
        return node.package_name != SYSTEM_UI  # its overlays span the screen and let touches through
    return touchable(node) and not node.flags & SCROLLABLE and not is_web_veil(screen, node)


def _topmost_at(nodes: list[Node], point: ScreenPoint) -> Node | None:
    return next((node for node in reversed(nodes) if node.bounds.holds(*point)), None)


def _touchables_inside(screen: Screen, node: Node) -> list[Node]:
    """Inner nodes that would take the touch; a part as large as the element counts as the element."""
    if not touchable(node):
        return []
    return [each for each in screen.inside(node) if touchable(each) and each.bounds != node.bounds]


def _free_place(part: Bounds, boxes: list[Bounds]) -> ScreenPoint | None:
    """The middle of the free cell between the edges of `boxes` that is roomy and nearest to the centre."""
    largest = sorted(boxes, key=lambda box: -box.intersect(part).area)[:_MOST_EDGES]
    columns = _strips_between(part.left, part.right, [x for box in largest for x in (box.left, box.right)])
    rows = _strips_between(part.top, part.bottom, [y for box in largest for y in (box.top, box.bottom)])
    centre = part.center
    best: tuple[int, int, ScreenPoint] | None = None
    for left, right in columns:
        for top, bottom in rows:
            point = ScreenPoint((left + right) // 2, (top + bottom) // 2)
            if any(box.holds(*point) for box in boxes):
                continue
            room = min(right - left, bottom - top, _FINGER_PX)
            place = (-room, abs(point.x - centre.x) + abs(point.y - centre.y), point)
            best = place if best is None else min(best, place)
    return best[2] if best else None


def _strips_between(low: int, high: int, edges: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(sorted({low, high, *[min(max(edge, low), high) for edge in edges]})))


def element_at(screen: Screen, x: int, y: int) -> Node | None:
    """The node that a touch at the point reaches: the topmost touchable, else the deepest node.

    What the surface itself reports about touches at that point takes precedence.
    """
    confirmed = [node for node in screen.nodes if node.touch_at == (x, y) and touchable(node)]
    if confirmed and screen.is_exact:
        return confirmed[-1]
    deepest: Node | None = None
    veil: Node | None = None
    for node in reversed(paint_order(screen)):
        if not node.bounds.holds(x, y) or node.flags & HIDDEN or not visible_part(screen, node).holds(x, y):
            continue
        if confirmed and node.native_id:
            return confirmed[-1]
        if node.covered_by:
            continue
        if touchable(node):
            if not is_web_veil(screen, node):
                return node
            veil = veil or node
        deepest = deepest or node
        if is_window(node) and node.package_name != SYSTEM_UI:
            break
    return veil or deepest


def touch_targets(screen: Screen, point: ScreenPoint, slop: int) -> list[Node]:
    """What a touch there may reach, and each uncovered touchable that begins within `slop` pixels of it.

    Where the dump does not tell which of several nodes lies on top, all of them count; also words beside a
    box that takes nothing, such as the window that holds the keyboard of an iPhone.
    """
    x, y = point
    hit = element_at(screen, x, y)
    targets = [hit] if hit is not None else []
    box = hit if hit is not None and not touchable(hit) else None
    above: list[Node] = []
    for node in reversed(paint_order(screen)):
        left, top, right, bottom = node.bounds
        if x < left - slop or x >= right + slop or y < top - slop or y >= bottom + slop:
            continue
        if node.flags & HIDDEN or node.covered_by:
            continue
        if box is not None and (node.text or node.description) and not touchable(node):
            is_free = is_drawn_over(screen, box, node) is None and visible_part(screen, node).holds(x, y)
            targets += [node] if is_free else []
        elif touchable(node):
            part = visible_part(screen, node)
            near = ScreenPoint(min(max(x, part.left), part.right - 1), min(max(y, part.top), part.bottom - 1))
            is_near = max(abs(near.x - x), abs(near.y - y)) <= slop
            is_beside = near != point or (
                hit is not None
                and is_drawn_over(screen, hit, node) is None
                and not any(target.is_inside(node) for target in targets)
            )
            over = [cover for cover in above if is_drawn_over(screen, cover, node)]
            if part.area and is_near and is_beside and node is not hit and _topmost_at(over, near) is None:
                targets.append(node)
            if not is_web_veil(screen, node):
                above.append(node)
        if is_window(node) and node.package_name != SYSTEM_UI and node.bounds.holds(x, y):
            break
    return targets
