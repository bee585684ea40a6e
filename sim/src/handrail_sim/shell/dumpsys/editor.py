"""EditorInfo of the focused field: what an app tells the keyboard about it, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail_sim.screen.dump import resource_id

if TYPE_CHECKING:
    from handrail_sim.handset import Handset
    from handrail_sim.view.view import View

# android.text.InputType: class in the lowest four bits, then variation, then flags.
KINDS = {"number": 0x2, "decimal": 0x2002, "phone": 0x3, "email": 0x21, "uri": 0x11, "password": 0x81}
PASSWORD, MULTI_LINE = 0x81, 0x20001
ACTIONS = {"none": 1, "go": 2, "search": 3, "send": 4, "next": 5, "done": 6}
NO_ENTER_ACTION = 0x40000000


def input_type(view: View) -> int:
    """InputType of a field."""
    if view.password:
        return PASSWORD
    return MULTI_LINE if view.multiline else KINDS.get(view.input_type, 0x1)


def ime_options(view: View) -> int:
    """The keyboard's action key; TextView keeps Enter for new lines in a field of many."""
    return ACTIONS.get(view.ime_action, 0) | (NO_ENTER_ACTION if view.multiline else 0)


def served(phone: Handset) -> str:
    """As InputMethodManager's own dump has it."""
    found = phone.editing.field()
    if found is None:
        return "  mCurrentEditorInfo: null"
    window, view = found
    memory = view.memory or {}
    start, end = memory.get("start", 0), memory.get("end", 0)
    return (
        f"  mCurrentEditorInfo:\n"
        f"    inputType=0x{input_type(view):x} imeOptions=0x{ime_options(view):x} privateImeOptions=null\n"
        f"    actionLabel=null actionId=0\n"
        f"    initialSelStart={start} initialSelEnd={end} initialToolType=0 initialCapsMode=0x0\n"
        f"    hintText={view.hint or 'null'} label=null\n"
        f"    packageName={window.package} fieldName={resource_id(view.id, window.package) or 'null'}"
    )
