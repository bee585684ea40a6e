"""The frames that Android puts around an activity's own view."""

from __future__ import annotations

from handrail_sim.system.activity_state import ActivityState
from handrail_sim.system.device import Device
from handrail_sim.system.overlays import panel, snackbar_of
from handrail_sim.view import View, absolute, frame, icon
from handrail_sim.view.view import Style
from handrail_sim.view.widgets import styled


def decorate(phone: Device, activity: ActivityState, sign: str) -> View:
    """Decor, content parent and content; the content ends above the keyboard, as adjustResize does."""
    display = phone.display
    foot = display.height - (
        display.navigation_px + display.ime_px if phone.keyboard_shown else display.navigation_px
    )
    if activity.bare:
        own = activity.build()
        own.width = own.height = "fill"
        return own
    own = splash(sign) if activity.starting else activity.build()
    if activity.dialog_style:
        return floating(activity, own)
    content = frame(own, snackbar_of(activity), id="android:id/content", height="fill", cls=FRAME)
    inner = (0, display.status_px, display.width, foot)
    parent = absolute(_placed(content, inner), cls=FRAME)
    linear = absolute(_placed(parent, inner), cls="android.widget.LinearLayout")
    background = "" if activity.wallpaper else "surface"
    return absolute(
        _placed(linear, (0, 0, display.width, foot)),
        cls=FRAME,
        style=styled("wallpaper" if activity.wallpaper else "window", background=background),
    )


def floating(activity: ActivityState, own: View) -> View:
    """An activity with a dialog's theme: a box of its own size, or a sheet as wide as the screen."""
    content = frame(own, id="android:id/content", cls=FRAME)
    if activity.dialog_style == "sheet":
        style = Style(kind="sheet", background="surface_container_low", radius=28.0, elevation=8.0)
        return frame(frame(content, style=style), cls=FRAME)
    return panel(own)


FRAME = "android.widget.FrameLayout"


def _placed(view: View, rect: tuple[int, int, int, int]) -> View:
    view.rect = rect
    return view


def splash(sign: str) -> View:
    """What is shown while a slow app starts: its icon."""
    return frame(icon(sign, size=96.0, align="center"), height="fill", cls=FRAME)
