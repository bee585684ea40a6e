"""A flow or one step of it as Python: a script by `handrail.sync`, or a test for pytest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from handrail.engine.short_forms import method_name
from handrail.errors import InvalidAction
from handrail.flow.document import FlowDocument
from handrail.flow.parse import Fields, plain_data
from handrail.flow.write import indented, shorten
from handrail.protocol.actions import AnyAction
from handrail.protocol.flow import AnyStep, Flow, Repeat, Step

Form = Literal["pytest", "script"]
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def keep_variables(document: FlowDocument) -> tuple[Flow, dict[str, str], list[str]]:
    """The flow with `${NAME}` where a variable stands, their values, and those that had to be filled in."""
    node = document.root.get("env")
    own = {name: str(text) for name, text in plain_data(node).items()} if isinstance(node, Fields) else {}
    try:
        return document.bind({name: f"${{{name}}}" for name in own}).flow, own, []
    except InvalidAction:  # one stands where a number must
        filled = f"{document.path or 'flow'}: variables are written as their values: {', '.join(own)}"
        return document.flow, {}, [filled]


def python_text(document: FlowDocument, form: Form) -> tuple[str, list[str]]:
    """The file, and what is left out of it, by line."""
    flow, variables, left_out = keep_variables(document)
    phone = "phone" if form == "pytest" else "p"
    body = _steps(flow.steps, phone, document, left_out) or ["pass"]
    values = [f"{name} = {_literal(text, ())}" for name, text in variables.items()]
    needs_suppress = any("with suppress(" in line for line in body)
    imports = ["from contextlib import suppress", ""] if needs_suppress else []
    errors = ["from handrail import HandrailError"] if needs_suppress else []
    if form == "pytest":
        mark = f"@pytest.mark.handrail(app={_quoted(flow.app)})" if flow.app else "@pytest.mark.handrail"
        name = re.sub(r"\W+", "_", flow.name.lower()).strip("_") or "flow"
        head = [*imports, "import pytest", *errors, "", *values, *([""] if values else []), ""]
        return "\n".join([*head, mark, f"def test_{name}(phone):", *indented(body, 4), ""]), left_out
    start = [f"p.start_app({_quoted(flow.app)})"] if flow.app else []
    head = [f'"""{flow.name}"""', "", *imports, *errors, "from handrail.sync import phone", "", *values]
    lines = [*head, *([""] if values else []), "with phone() as p:", *indented([*start, *body], 4), ""]
    return "\n".join(lines), left_out


def _steps(
    steps: Sequence[AnyStep],
    phone: str,
    document: FlowDocument,
    left_out: list[str],
    at: tuple[Any, ...] = (),
) -> list[str]:
    lines: list[str] = []
    for index, step in enumerate(steps):
        place = document.places.of((*at, index))
        unsaid = [name for name in ("when", "retry", "timeout_ms", "settle") if getattr(step, name, None)]
        match step:
            case Step():
                written = [python_call(step.action, phone)]
            case Repeat(times=int(times)):
                inside = _steps(step.steps, phone, document, left_out, (*at, index))
                written = [f"for _ in range({times}):", *indented(inside, 4)]
            case _:
                left_out.append(f"{place}: {type(step).__name__} has no short form in Python")
                lines.append(f"# left out: {type(step).__name__}")
                continue
        left_out += [f"{place}: {name} is left out" for name in unsaid]
        if step.optional:
            written = ["with suppress(HandrailError):", *indented(written, 4)]
        lines += [f"# {step.label}"] * bool(step.label) + written
    return lines


def python_call(action: AnyAction, phone: str = "phone") -> str:
    """`phone.tap("Save", expect="Saved")`"""
    fields = action.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    fields = shorten({name: value for name, value in fields.items() if name not in ("type", "device")})
    required = [name for name, field in type(action).model_fields.items() if field.is_required()]
    short = action.traits.shorthand
    first = [name for name in dict.fromkeys((short, *required)) if name and name in fields and name != "type"]
    parts = [_literal(fields[name]) for name in first[:1]]
    parts += [f"{name}={_literal(value)}" for name, value in fields.items() if name not in first[:1]]
    return f"{phone}.{method_name(action.type, type(action))}({', '.join(parts)})"


def _literal(value: Any, names: Sequence[str] | None = None) -> str:
    if isinstance(value, str):
        if names is None and (alone := _VARIABLE.fullmatch(value)):
            return alone[1]
        if names is None and _VARIABLE.search(value):
            escaped = value.replace("{", "{{").replace("}", "}}")
            return "f" + _quoted(re.sub(r"\$\{\{([A-Za-z_]\w*)\}\}", r"{\1}", escaped))
        return _quoted(value)
    if isinstance(value, Mapping):
        pairs = (f"{_quoted(key)}: {_literal(part, names)}" for key, part in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_literal(part, names) for part in value) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    """JSON's form of a text is Python's too, but for surrogate pairs."""
    return json.dumps(text, ensure_ascii=False)
