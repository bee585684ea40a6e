"""From windows to a frame: walks the view trees bottom to top and writes the scene. Free of Pillow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.paint import controls, media, palette, surfaces, words
from handrail_sim.paint.pen import Pen
from handrail_sim.paint.scene import ALL, TOP, Box, Drawing, Fill, Picture, Scene, dimmed, is_empty, overlap
from handrail_sim.paint.thumbnail import Reduction
from handrail_sim.view.units import Units
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

if TYPE_CHECKING:
    from PIL.Image import Image

Painter = Callable[[Pen, View], None]

PAINTERS: Mapping[str, Painter] = {
    "avatar": media.avatar,
    "app_icon": media.app_icon,
    "badge": surfaces.badge,
    "bubble_in": words.bubble_in,
    "bubble_out": words.bubble_out,
    "button": controls.button,
    "checkbox": controls.checkbox,
    "chip": controls.chip,
    "destination": surfaces.destination,
    "divider": surfaces.divider,
    "fab": controls.fab,
    "field": words.field,
    "icon": media.icon,
    "image": media.image,
    "key": controls.key,
    "progress": controls.progress,
    "radio": controls.radio,
    "slider": controls.slider,
    "spinner": controls.spinner,
    "switch": controls.switch,
    "tab": words.tab,
    "tab_box": surfaces.tab_box,
    "text": words.text,
    "tile": surfaces.tile,
    "wallpaper": surfaces.wallpaper,
}

# Views without a style, such as those of a recorded screen, are dressed by their class.
_BY_CLASS: Mapping[str, str] = {
    "Button": "button",
    "CheckBox": "checkbox",
    "EditText": "field",
    "RadioButton": "radio",
    "SeekBar": "slider",
    "Switch": "switch",
    "ToggleButton": "button",
}


_OPAQUE = frozenset({"application", "recents"})
_BARS = frozenset({"status_bar", "navigation_bar"})


@dataclass(frozen=True, slots=True)
class Frame:
    """What the screen shows at one moment. Painting it is slow (tens of ms) and safe in any thread."""

    scene: Scene

    def image(self) -> Image:
        from handrail_sim.paint.canvas import paint  # noqa: PLC0415 - Pillow only when painting

        return paint(self.scene)

    def png(self) -> bytes:
        from handrail_sim.paint.encoder import encode  # noqa: PLC0415 - Pillow only when painting

        return encode(self.image())

    def rgba(self) -> bytes:
        """Raw pixels, four bytes each, row by row: what a framebuffer holds."""
        return self.image().convert("RGBA").tobytes()


def compose(
    windows: Sequence[Window],
    width: int,
    height: int,
    *,
    dark: bool = False,
    now_ms: float = 0.0,
) -> Frame:
    """The frame of these windows, bottom to top."""
    screen = (0, 0, width, height)
    pen = Pen(dark=dark, now_ms=now_ms)
    for window in windows[_lowest_seen(windows, screen) :]:
        pen.begin(window.units.dp, window.units.sp, screen)
        _window(pen, window, screen)
    return Frame(Scene(width, height, tuple(pen.shapes)))


def _lowest_seen(windows: Sequence[Window], screen: Box) -> int:
    """What lies below a window that fills the screen is hidden."""
    return max([place for place, window in enumerate(windows) if _hides_all(window, screen)], default=0)


def _hides_all(window: Window, screen: Box) -> bool:
    if window.type in _OPAQUE:
        return True
    style = window.root.style
    return (
        window.bounds == screen
        and not style.radius
        and style.background in palette.LIGHT
        and style.alpha == 1
    )


def _window(pen: Pen, window: Window, screen: Box) -> None:
    root = window.root
    if window.dim:
        pen.shapes = [(clip, dimmed(shape, 1 - window.dim)) for clip, shape in pen.shapes]
    if window.secure:
        pen.fill(screen if window.type in _OPAQUE else window.bounds, (0, 0, 0, 255))
        pen.over_picture = True
        return
    if window.type in _OPAQUE:
        pen.fill(screen, pen.colour("surface"))
        pen.over_picture = False
    elif window.type in _BARS:
        pen.ink_over_picture()
    elif window.type == "ime":
        # The strip below the keys, behind the navigation bar, belongs to the keyboard too.
        pen.fill((0, window.bounds[1], *screen[2:]), pen.colour("keyboard"))
        pen.over_picture = False
    view(pen, root)


def view(pen: Pen, shown: View) -> None:
    """Paint a view and what it holds."""
    if not (shown.visible and shown.painted):
        return
    outer = pen.state()
    style = shown.style
    pen.alpha *= style.alpha
    radius = pen.px(style.radius)
    if style.elevation:
        pen.shadow(shown.bounds, radius, style.elevation)
    pen.clip = overlap(shown.clip, pen.clip)
    if not is_empty(pen.clip):
        if style.kind == "sheet":
            _sheet(pen, shown, radius)
        elif style.background and style.kind not in _OWN_GROUND:
            pen.ground(shown.bounds, style.background, radius, ALL)
        if shown.pixels is not None:
            pen.add(Drawing(shown.pixels, shown.bounds))
        painter = PAINTERS.get(style.kind or _kind_of(shown))
        if painter is not None:
            painter(pen, shown)
        elif style.kind == "thumbnail":
            _thumbnail(pen, shown)
        for child in shown.children:
            view(pen, child)
        if shown.pressed and shown.enabled and style.kind != "key":
            pen.fill(shown.bounds, palette.fade(pen.ink, 0.1), radius)
    pen.restore(outer)


def _sheet(pen: Pen, shown: View, radius: int) -> None:
    """A sheet rises from the foot of the screen, so its ground goes on behind the navigation bar."""
    inner, pen.clip = pen.clip, pen.screen
    box = (shown.x, shown.y, shown.x + shown.w, pen.screen[3])
    pen.ground(box, shown.style.background or "surface_container_low", radius, TOP)
    pen.clip = inner


_OWN_GROUND = frozenset({"key", "bubble_in", "bubble_out", "field", "badge", "app_icon"})


def _thumbnail(pen: Pen, shown: View) -> None:
    """A small picture of the window that the view's tag holds, as it would be if it were in front."""
    window = shown.tag
    if window is None or window.secure:
        return
    window.resize(pen.screen, Units(pen.dp, pen.sp))
    inner = Pen(dark=pen.dark, now_ms=pen.now_ms)
    inner.begin(pen.dp, pen.sp, pen.screen)
    view(inner, window.root)
    small = Reduction(pen.screen, shown.bounds)
    for clip, shape in inner.shapes:
        reduced = small.shape(shape)
        if isinstance(shape, Fill | Picture) and shape.box == pen.screen:
            reduced = shape._replace(box=shown.bounds, radius=pen.px(shown.style.radius))
        pen.shapes.append((overlap(small.box(clip), pen.clip), reduced))


def _kind_of(shown: View) -> str:
    kind = _BY_CLASS.get(shown.cls.rpartition(".")[2])
    return kind or ("text" if shown.text and not shown.children else "")
