"""How pictures are painted: icons, photographs, avatars, app icons."""

from __future__ import annotations

from zlib import crc32

from handrail_sim.paint import icons, palette
from handrail_sim.paint.palette import fade, hue
from handrail_sim.paint.pen import DISABLED, Pen, inside
from handrail_sim.paint.scene import Box, Picture
from handrail_sim.view import metrics
from handrail_sim.view.view import View


def icon(pen: Pen, view: View) -> None:
    """A vector icon, as big as fits."""
    style = view.style
    box = inside(view, pen.dp)
    if style.role == "selected":
        ink = pen.colour(style.color or "on_secondary_container")
    else:
        ink = pen.ink_for(view, "on_surface_variant")
    size = min(box[2] - box[0], box[3] - box[1])
    pen.sign(style.icon, box, ink, size)


def image(pen: Pen, view: View) -> None:
    """A drawn picture, or an icon where no picture is named."""
    style = view.style
    if style.image.startswith("wallpaper"):
        pen.wallpaper(style.image)
    elif style.image:
        box = inside(view, pen.dp)
        pen.add(Picture(style.image, box, pen.px(style.radius), style.scale, style.rotation))
    elif style.icon:
        icon(pen, view)


def avatar(pen: Pen, view: View) -> None:
    """A disc in a colour of the person's own, with their first letter."""
    name = view.style.image.removeprefix("avatar:")
    side = min(view.w, view.h)
    colour = fade(hue(crc32(name.encode()) % 360, 0.45, 0.42), pen.alpha if view.enabled else DISABLED)
    box = (view.x, view.y, view.x + side, view.y + side)
    pen.fill(box, colour, side // 2)
    letter = name[:1].upper()
    if letter.isalnum():
        pen.line(letter, box, side * 0.5, (255, 255, 255, 255), align="center")
    else:
        pen.sign("account", box, (255, 255, 255, 255), round(side * 0.62))


def app_icon(pen: Pen, view: View) -> None:
    """A launcher's icon: a coloured plate with a white sign, the app's name below it if the view has text."""
    left, top, right, bottom = inside(view, pen.dp)
    side = min(right - left, bottom - top, pen.px(54) if view.style.align == "center" else view.h)
    label = metrics.line_height(view.style.size * pen.sp) + pen.px(4) if view.text else 0
    x, y = (left + right - side) // 2, round((top + bottom - side - label) / 2)
    _plate(pen, view, (x, y, x + side, y + side))
    if view.text:
        size = view.style.size * pen.sp
        words = metrics.ellipsise(view.text, size, right - left)
        box = (left, y + side + pen.px(4), right, round(y + side + label))
        pen.line(words, box, size, palette.fade(pen.ink, pen.alpha), align="center")


def _plate(pen: Pen, view: View, plate: Box) -> None:
    style = view.style
    side = plate[2] - plate[0]
    own = hue(crc32(style.icon.encode()) % 997, 0.46, 0.5)
    ground = pen.colour(style.background) if style.background else own
    pen.fill(plate, ground, round(side * 0.3))
    pen.sign(
        style.icon if icons.known(style.icon) else "apps", plate, (255, 255, 255, 255), round(side * 0.58)
    )
