"""Rotation, theme, font scale, density, size, and the settings that stand for them."""

from __future__ import annotations

from handrail_sim.system.activities import Context


def put_setting(phone: Context, table: str, name: str, value: str) -> None:
    phone.settings.setdefault(table, {})[name] = value
    match table, name:
        case "secure", "ui_night_mode_on":
            set_dark(phone, value == "1")
        case "secure", "ui_night_mode":
            set_dark(phone, value == "2")
        case "system", "font_scale":
            set_font_scale(phone, float(value))
        case "system", "user_rotation":
            set_rotation(phone, int(value))
    phone.setting_changed(name)
    phone.layout_changed()


def set_rotation(phone: Context, quarter_turns: int) -> None:
    phone.settings["system"]["user_rotation"] = str(quarter_turns % 4)
    apply_rotation(phone)


def apply_rotation(phone: Context) -> None:
    """Turn the screen as the user wants it, unless the activity in front insists."""
    wanted = int(phone.settings["system"].get("user_rotation", "0"))
    top = phone.tasks.top
    if top is not None and top.orientation:
        wanted = {"portrait": 0, "landscape": 1}[top.orientation]
    if wanted != phone.display.rotation:
        phone.display.rotation = wanted
        phone.screen_turned()
        phone.tasks.recreate()


def set_dark(phone: Context, dark: bool) -> None:
    names = {"ui_night_mode": "2" if dark else "1", "ui_night_mode_on": "1" if dark else "0"}
    phone.settings["secure"].update(names)
    if dark != phone.display.dark:
        phone.display.dark = dark
        phone.tasks.recreate()


def set_font_scale(phone: Context, scale: float) -> None:
    """1.0 is the usual size."""
    phone.settings["system"]["font_scale"] = str(scale)
    if scale != phone.display.font_scale:
        phone.display.font_scale = scale
        phone.tasks.recreate()


def set_density(phone: Context, density: int | None) -> None:
    """Dots per inch; None is what was built in."""
    phone.display.density = density or phone.display.physical_density
    phone.tasks.recreate()


def set_size(phone: Context, width: int | None, height: int | None) -> None:
    """px in the natural orientation; None is what was built in."""
    phone.display.natural_width = width or phone.display.physical_width
    phone.display.natural_height = height or phone.display.physical_height
    phone.tasks.recreate()
