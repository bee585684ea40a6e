"""What Android's input method framework knows of the focused field and no dump shows: lines, Enter."""

from __future__ import annotations

import re
from dataclasses import replace

from handrail.adb.shell import Shell
from handrail.android.text.field import Field
from handrail.errors import DeviceError, Timeout

# The client's section has the field that is served now; older Androids call it a text box.
_EDITOR = re.compile(
    r"(?:mCurrentEditorInfo|mCurrentTextBoxAttribute|mInputEditorInfo):?\s+"
    r"inputType=0x([0-9a-f]+) imeOptions=0x([0-9a-f]+)"
)
CLASS, TEXT, MULTI_LINE = 0xF, 0x1, 0x20000
ACTION, UNSPECIFIED, NONE, DONE = 0xFF, 0, 1, 6


def read_editor(dump: str) -> tuple[bool, bool] | None:
    """Has it several lines, and does Enter act in it? From `dumpsys input_method`; None if nothing is served.

    An action such as Send on a field of many lines is for the on-screen key, and chat apps mostly let a real
    Enter key do the same: it counts as acting.
    """
    found = _EDITOR.search(dump)
    kind = int(found[1], 16) if found else 0
    if found is None or not kind:
        return None
    several = kind & CLASS == TEXT and bool(kind & MULTI_LINE)
    makes_line = several and int(found[2], 16) & ACTION in (UNSPECIFIED, NONE, DONE)
    return several, not makes_line


async def asked(field: Field, shell: Shell) -> Field:
    """The field with what the framework says of it; unchanged where it says nothing."""
    try:
        output = await shell.run(("dumpsys", "input_method"), check=False)
    except (DeviceError, Timeout):
        return field
    facts = read_editor(output.text)
    return field if facts is None else replace(field, multiline=facts[0], enter_acts=facts[1])
