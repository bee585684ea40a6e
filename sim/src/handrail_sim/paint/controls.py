"""How things to press are painted: buttons, chips, boxes, switches, sliders, progress."""

from __future__ import annotations

from handrail_sim.paint import icons, palette
from handrail_sim.paint.palette import RGBA, fade
from handrail_sim.paint.pen import DISABLED, Pen, inside, write
from handrail_sim.paint.scene import Arc, Box
from handrail_sim.view.view import View

_SPIN_MS = 1400
_SWEEP_MS = 2000

_ACTING_KEYS = frozenset("✓→⏎🔍➤")

# Role of a button: ground, ink, whether it has an outline.
_BUTTONS = {
    "filled": ("primary", "on_primary", False),
    "tonal": ("secondary_container", "on_secondary_container", False),
    "elevated": ("surface_container_low", "primary", False),
    "outlined": ("", "primary", True),
    "text": ("", "primary", False),
    "error": ("error", "on_error", False),
    "danger": ("error", "on_error", False),
}


def button(pen: Pen, view: View) -> None:
    """A button in the dress of its role."""
    style = view.style
    ground, ink, outlined = _BUTTONS.get(style.role, _BUTTONS["filled"])
    box = _body(pen, view)
    radius = pen.px(style.radius) if style.radius else (box[3] - box[1]) // 2
    if not view.enabled:
        ink = "on_surface"
    elif pen.ground_name == "inverse_surface" and not ground:
        ink = "inverse_primary"
    if ground and not style.background:
        pen.fill(box, pen.colour(ground) if view.enabled else pen.colour("on_surface", 0.12), radius)
    if outlined:
        pen.stroke(box, pen.colour("outline", 1.0 if view.enabled else 0.3), radius, pen.px(1))
    if style.background:
        colour = pen.ink_for(view)
    else:
        colour = pen.colour(style.color or ink, 1.0 if view.enabled else DISABLED)
    if style.icon:
        side = pen.px(18)
        pen.sign(style.icon, (box[0] + pen.px(12), box[1], box[0] + pen.px(12) + side, box[3]), colour, side)
    write(pen, view, inside(view, pen.dp), colour)


def _body(pen: Pen, view: View) -> Box:
    """What is seen of a button of 48 dp is 40 dp high; the rest is only for the finger."""
    inset = pen.px(4) if not view.style.background and view.h >= pen.px(47) and view.h <= pen.px(52) else 0
    return view.x, view.y + inset, view.x + view.w, view.y + view.h - inset


def chip(pen: Pen, view: View) -> None:
    """A small outlined button, filled when chosen."""
    box, radius = view.bounds, pen.px(view.style.radius or 8)
    chosen = view.style.role == "selected" or view.selected or bool(view.checked)
    if chosen:
        pen.fill(box, pen.colour("secondary_container"), radius)
    else:
        pen.stroke(box, pen.colour("outline"), radius, pen.px(1))
    ink = pen.ink_for(view, "on_secondary_container" if chosen else "on_surface_variant")
    write(pen, view, inside(view, pen.dp), ink)


def fab(pen: Pen, view: View) -> None:
    """The sign or words of the floating button; its plate is its ground."""
    ground = view.style.background or "primary_container"
    ink = pen.ink_for(view, "on_primary_container" if ground == "primary_container" else "")
    if view.text:
        write(pen, view, inside(view, pen.dp), ink)
        return
    pen.sign(view.style.icon, view.bounds, ink, pen.px(24))


def checkbox(pen: Pen, view: View) -> None:
    """A box at the start, words after it."""
    box = _leading(pen, view, 20)
    colour = _state_colour(pen, view)
    if view.checked:
        pen.fill(box, colour, pen.px(3))
        pen.sign("check", box, pen.colour("on_primary"), min(pen.px(18), box[2] - box[0]))
    else:
        pen.stroke(box, colour, pen.px(3), pen.px(2))
    _words_after(pen, view)


def radio(pen: Pen, view: View) -> None:
    """A ring at the start, words after it."""
    box = _leading(pen, view, 20)
    colour = _state_colour(pen, view)
    pen.stroke(box, colour, (box[2] - box[0]) // 2, pen.px(2))
    if view.checked:
        pen.disc((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, (box[2] - box[0]) / 4, colour)
    _words_after(pen, view)


def _state_colour(pen: Pen, view: View) -> RGBA:
    colour = pen.colour("primary" if view.checked else "on_surface_variant")
    return colour if view.enabled else fade(colour, DISABLED)


def _leading(pen: Pen, view: View, side_dp: float) -> Box:
    left, top, right, bottom = inside(view, pen.dp)
    side = min(pen.px(side_dp), right - left, bottom - top)
    middle = (top + bottom) // 2
    left += min(pen.px(2), right - left - side)
    return left, middle - side // 2, left + side, middle - side // 2 + side


def _words_after(pen: Pen, view: View) -> None:
    left, top, right, bottom = inside(view, pen.dp)
    write(pen, view, (left + pen.px(32), top, right, bottom), pen.ink_for(view, "on_surface"))


def switch(pen: Pen, view: View) -> None:
    """Words at the start, the switch at the end; smaller where its view is small."""
    left, top, right, bottom = inside(view, pen.dp)
    tall = min(pen.px(32), bottom - top, (right - left) * 8 // 13)
    wide, radius = tall * 13 // 8, tall // 2
    high = (top + bottom - tall) // 2
    box = (right - wide, high, right, high + tall)
    strength = 1.0 if view.enabled else DISABLED
    if view.checked:
        pen.fill(box, pen.colour("primary", strength), radius)
        pen.disc(right - radius, high + radius, tall * 0.375, pen.colour("on_primary"))
    else:
        pen.fill(box, pen.colour("surface_container_highest", strength), radius)
        pen.stroke(box, pen.colour("outline", strength), radius, pen.px(2))
        pen.disc(box[0] + radius, high + radius, tall * 0.25, pen.colour("outline", strength))
    write(pen, view, (left, top, box[0] - pen.px(8), bottom), pen.ink_for(view, "on_surface"))


def _share(view: View) -> float:
    span = view.high - view.low
    return min(1.0, max(0.0, (view.value - view.low) / span)) if span else 0.0


def slider(pen: Pen, view: View) -> None:
    """A track with a thumb; both stay inside the padding."""
    left, top, right, bottom = inside(view, pen.dp)
    middle = (top + bottom) // 2
    half = pen.px(2)
    strength = 1.0 if view.enabled else DISABLED
    x = round(left + (right - left) * _share(view))
    radius = pen.px(10)
    x = min(max(x, left + radius), right - radius)
    pen.fill((left, middle - half, right, middle + half), pen.colour("surface_container_highest"), half)
    pen.fill((left, middle - half, x, middle + half), pen.colour("primary", strength), half)
    pen.disc(x, middle, radius, pen.colour("primary") if view.enabled else pen.colour("outline"))


def progress(pen: Pen, view: View) -> None:
    """A thin bar, filled from the start."""
    left, top, right, bottom = inside(view, pen.dp)
    tall = min(bottom - top, pen.px(4)) or 1
    top = (top + bottom - tall) // 2
    pen.fill((left, top, right, top + tall), pen.colour("secondary_container"), tall // 2)
    end = round(left + (right - left) * _share(view))
    pen.fill((left, top, end, top + tall), pen.colour(view.style.color or "primary"), tall // 2)


def spinner(pen: Pen, view: View) -> None:
    """A turning arc: where it is and how long it is follow from the time alone."""
    side = min(view.w, view.h) - pen.px(8)
    if side <= 0:
        return
    left, top = view.x + (view.w - side) // 2, view.y + (view.h - side) // 2
    turn = pen.now_ms % _SPIN_MS / _SPIN_MS
    breath = abs(pen.now_ms % _SWEEP_MS / _SWEEP_MS * 2 - 1)
    box = (left, top, left + side, top + side)
    colour = pen.colour(view.style.color or "primary")
    pen.add(Arc(box, turn * 360 - 90, 60 + 200 * breath, max(2, min(pen.px(4), side // 6)), colour))


def key(pen: Pen, view: View) -> None:
    """A key of the on-screen keyboard; the one that acts is coloured."""
    style = view.style
    margin = pen.px(1)
    box = (view.x + margin, view.y + margin, view.x + view.w - margin, view.y + view.h - margin)
    acts = style.role == "action" or view.text in _ACTING_KEYS
    ground = "primary" if acts else "key_special" if style.role == "special" else "key"
    pen.fill((box[0], box[1] + margin, box[2], box[3] + margin), (0, 0, 0, 40), pen.px(style.radius or 6))
    ground = "primary_container" if view.pressed else style.background or ground
    pen.fill(box, pen.colour(ground), pen.px(style.radius or 6))
    ink = palette.ink_on(ground, pen.dark)
    sign = style.icon or icons.SIGNS.get(view.text, "")
    if sign:
        pen.sign(sign, box, ink, pen.px(22))
    else:
        pen.line(view.text, box, style.size * pen.sp, ink, bold=style.bold, align="center")
