"""Key codes and what the phone does with them: system keys first, then the field, then the app."""

from __future__ import annotations

from collections.abc import Callable

from handrail_sim.input.editing import Editing
from handrail_sim.screen.shown import Shown
from handrail_sim.system import telephony
from handrail_sim.view.hit import is_slider
from handrail_sim.view.windows import Window

HOME, BACK, CALL, END_CALL = 3, 4, 5, 6
UP, DOWN, LEFT, RIGHT, CENTER = 19, 20, 21, 22, 23
VOLUME_UP, VOLUME_DOWN, POWER = 24, 25, 26
TAB, SPACE, ENTER, DELETE = 61, 62, 66, 67
MENU, SEARCH, PAGE_UP, PAGE_DOWN, ESCAPE, FORWARD_DELETE = 82, 84, 92, 93, 111, 112
MOVE_HOME, MOVE_END, NUMPAD_ENTER, HEADSETHOOK = 122, 123, 160, 79
VOLUME_MUTE, NOTIFICATION, APP_SWITCH, ASSIST = 164, 83, 187, 219
SLEEP, WAKEUP, CUT, COPY, PASTE = 223, 224, 277, 278, 279
INSERT, NUMPAD_0, NUMPAD_DOT = 124, 144, 158
SHIFT_MASK, CTRL_MASK, NUM_LOCK = 0xC1, 0x7000, 0x200000

# Characters of the keys, without and with shift, as Android's virtual keyboard maps them.
CHARACTERS: dict[int, tuple[str, str]] = {
    **{7 + number: (str(number), ")!@#$%^&*("[number]) for number in range(10)},
    **{29 + place: (letter, letter.upper()) for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")},
    17: ("*", "*"),
    18: ("#", "#"),
    55: (",", "<"),
    56: (".", ">"),
    62: (" ", " "),
    68: ("`", "~"),
    69: ("-", "_"),
    70: ("=", "+"),
    71: ("[", "{"),
    72: ("]", "}"),
    73: ("\\", "|"),
    74: (";", ":"),
    75: ("'", '"'),
    76: ("/", "?"),
    77: ("@", "@"),
    81: ("+", "+"),
}
ON_NUMPAD: dict[int, str] = {**{NUMPAD_0 + number: str(number) for number in range(10)}, NUMPAD_DOT: "."}
_NUMPAD_WAYS = (INSERT, MOVE_END, DOWN, PAGE_DOWN, LEFT, CENTER, RIGHT, MOVE_HOME, UP, PAGE_UP)
_CENTRES = (96, 98, 99, 101, 106, 107, 108, *range(188, 204))  # A, C, X, Z, both thumbs, start, 1 to 16
FALLBACKS: dict[int, int] = {
    **dict.fromkeys(_CENTRES, CENTER),
    **dict.fromkeys((97, 100), BACK),  # B and Y
    **dict.fromkeys((109, 110), MENU),  # select and mode
    **{NUMPAD_0 + number: way for number, way in enumerate(_NUMPAD_WAYS)},
    NUMPAD_DOT: FORWARD_DELETE,
}
"""What Android presses instead of an unhandled key: the number pad's keys while num lock is off."""
SLIDES: dict[int, int] = {LEFT: -1, 69: -1, RIGHT: 1, 70: 1, 81: 1}  # arrows, minus, equals, plus
SELECT_ALL = -1  # no key of its own
CONTROLLED = {29: SELECT_ALL, 31: COPY, 50: PASTE, 52: CUT}  # ctrl with a, c, v, x


class NoKeyFor(ValueError):
    """A character that no key of Android's virtual keyboard types; `input text` dies of it."""


def press(phone: Shown, editing: Editing, code: int, *, held: bool = False, meta: int = 0) -> None:
    if code in (POWER, SLEEP, WAKEUP):
        phone.set_awake(code == WAKEUP or (code == POWER and (held or not phone.awake)))
        return
    if not phone.awake:
        return
    if _system(phone, code) or _is_blocked(phone):
        return
    away = editing.away()
    pastes = bool(meta & CTRL_MASK) and CONTROLLED.get(code) == PASTE  # from the phone's own clipboard
    if away is not None and not pastes and away.key(code, meta):
        return
    if _text(phone, editing, code, meta):
        return
    top = phone.tasks.top
    if top is not None and phone.focused_window() is top.window and top.on_key(code):
        phone.touched_app()
        return
    if code in FALLBACKS and not (code in ON_NUMPAD and meta & NUM_LOCK):
        press(phone, editing, FALLBACKS[code], held=held, meta=meta)
    else:
        _navigate(phone, editing, code, meta)


def strike(phone: Shown, editing: Editing, character: str) -> None:
    """One character of `input text`: blanks are keys, which act where no field has the focus."""
    code = {" ": SPACE, "\n": ENTER, "\t": TAB}.get(character)
    if code is None:
        phone.type_key(character)
    else:
        press(phone, editing, code)


def _is_blocked(phone: Shown) -> bool:
    window = phone.focused_window()
    return window is not None and phone.health.ignores_input(window.package)


def _system(phone: Shown, code: int) -> bool:
    ui = phone.systemui
    if phone.call is not None and _call(phone, code):
        return True
    if code == HOME:
        phone.go_home()
    elif code == BACK:
        go_back(phone)
    elif code == APP_SWITCH:
        if not ui.close_recents():
            ui.open_recents()
    elif code == NOTIFICATION:
        ui.open_shade()
    elif code in (VOLUME_UP, VOLUME_DOWN, VOLUME_MUTE):
        step = {VOLUME_UP: 1, VOLUME_DOWN: -1, VOLUME_MUTE: -15}[code]
        phone.volume = min(15, max(0, phone.volume + step))
        ui.show_volume()
    else:
        return False
    return True


def _call(phone: Shown, code: int) -> bool:
    """While there is a call: its keys, and a volume key that only silences the ringing."""
    if code == END_CALL:
        return telephony.end(phone)
    if code in (CALL, HEADSETHOOK):
        return telephony.answer(phone) or (code == HEADSETHOOK and telephony.end(phone))
    return code in (VOLUME_UP, VOLUME_DOWN) and phone.call is not None and phone.call["state"] == "ringing"


def go_back(phone: Shown) -> None:
    """Back closes the topmost thing: shade, recents, system dialog, keyboard, dialog, screen."""
    ui = phone.systemui
    if ui.close_shade() or ui.close_recents() or phone.dialogs.back() or phone.hide_keyboard():
        return
    top = phone.tasks.top
    if top is None or _is_blocked(phone):
        return
    for overlay in reversed(top.overlays):
        if overlay["kind"] != "snackbar":
            if overlay["cancelable"]:
                top.close_overlay(overlay["number"])
            return
    phone.tasks.back()


def _text(phone: Shown, editing: Editing, code: int, meta: int) -> bool:
    select = bool(meta & SHIFT_MASK)
    if meta & CTRL_MASK and code in CONTROLLED:
        code = CONTROLLED[code]
    elif code in CHARACTERS:
        return phone.type_key(CHARACTERS[code][select])
    elif code in ON_NUMPAD and meta & NUM_LOCK:
        return phone.type_key(ON_NUMPAD[code])
    elif code == TAB and editing.has_lines():
        return phone.type_key("\t")
    run = _edits(editing, select).get(code)
    return run is not None and run()


def _edits(editing: Editing, select: bool) -> dict[int, Callable[[], bool]]:
    return {
        DELETE: editing.delete,
        FORWARD_DELETE: lambda: editing.delete(forward=True),
        ENTER: editing.submit,
        NUMPAD_ENTER: editing.submit,
        LEFT: lambda: editing.move(-1, select=select),
        RIGHT: lambda: editing.move(1, select=select),
        MOVE_HOME: lambda: editing.move_to(0, select=select),
        MOVE_END: lambda: editing.move_to(-1, select=select),
        CUT: lambda: editing.copy(cut=True),
        COPY: editing.copy,
        PASTE: editing.paste,
        SELECT_ALL: editing.select_all,
    }


def _nudge(phone: Shown, window: Window, way: int) -> bool:
    """A focused SeekBar goes a twentieth of its way; false where something else has the focus."""
    view = window.focused_view()
    if view is None or not is_slider(view) or not view.enabled:
        return False
    value = min(view.high, max(view.low, view.value + way * (view.high - view.low) / 20))
    if value != view.value:
        view.value = value
        if view.on_change is not None:
            phone.run(window, view.on_change, value)
    return True


def _navigate(phone: Shown, editing: Editing, code: int, meta: int) -> None:
    """Focus moves with tab and the arrows; enter and centre press what has it; escape is back."""
    window = phone.focused_window()
    if window is None:
        return
    if code == ESCAPE:
        go_back(phone)
    elif code in (ENTER, CENTER, NUMPAD_ENTER, SPACE):
        view = window.focused_view()
        if view is not None and view.enabled:
            phone.click(window, view, view.x + view.w / 2, view.y + view.h / 2)
    elif code in SLIDES and _nudge(phone, window, SLIDES[code]):
        return
    elif code in (TAB, UP, DOWN, LEFT, RIGHT):
        back = code in (UP, LEFT) or (code == TAB and bool(meta & SHIFT_MASK))
        editing.step_focus(window, back=back)
    elif code in (PAGE_UP, PAGE_DOWN):
        phone.motion.page(window, -1 if code == PAGE_UP else 1)
