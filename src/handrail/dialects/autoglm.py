"""Open-AutoGLM: `<think>…</think><answer>do(action="Tap", element=[500, 500])</answer>`, or `finish(…)`.

Numbers are thousandths of the screen. An answer that can't be read is an error here; in AutoGLM's own loop it
is the end of the task.
"""

from __future__ import annotations

import re
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    SecondsField,
    TextArgument,
    required_field,
)
from handrail.dialects.model_text import calls_in, cut_output
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    text_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import Tap
from handrail.protocol.observe import RequestHumanAuth
from handrail.protocol.target import Point

_ELEMENT = {"element": PlaceField("target")}
_TYPE = WordRule("type_text", {"text": TextArgument("text")}, "text", {"clear": True})
_THINK = re.compile(r"<think>(.*?)</think>", re.S)
_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.S)
_CALL = re.compile(r"\b(?:do\(\s*action|finish\(\s*message)\s*=")
SENSITIVE = "permission"
ANOTHER = "another step is chosen by a person"


def _ask_person(instruction: Any, capability: str) -> dict[str, Any]:
    return {
        "type": "request_human_auth",
        "capability": capability,
        "instruction": str(instruction).strip()[:9_000] or ANOTHER,
    }


def _tap(arguments: Fields, talk: Conversation) -> WordMeaning:
    """With a message it is a sensitive one: a person is asked before it."""
    place = _ELEMENT["element"].read(required_field(arguments, "element"), "element", talk)
    tap = {"type": "tap", "target": place}
    if not arguments.get("message"):
        return WordMeaning((tap,))
    question = _ask_person(arguments["message"], SENSITIVE)
    return WordMeaning((question, tap), "a person was asked before the tap")


def _write_tap(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Tap) or not isinstance(action.target, Point) or action.expect is not None:
        return None
    return {"element": _ELEMENT["element"].write(action.target.to_dict(), talk)}


def _take_over(arguments: Fields, _: Conversation) -> WordMeaning:
    return WordMeaning((_ask_person(arguments.get("message", ""), "unknown"),))


def _write_take_over(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, RequestHumanAuth) or action.capability != "unknown":
        return None
    return {"message": action.instruction} if action.timeout_sec == 300 else None


def _interact(arguments: Fields, _: Conversation) -> WordMeaning:
    question = arguments.get("message", "Several choices are possible: which one?")
    return WordMeaning((_ask_person(question, "unknown"),))


def _do_nothing(_: Fields, __: Conversation) -> WordMeaning:
    return WordMeaning(reply="Noted.", note="it does nothing on the phone, as in AutoGLM itself")


ROWS: dict[str, TableRow] = {
    "Launch": WordRule("start_app", {"app": TextArgument("name")}, "app"),
    "Tap": SpecialWord(
        "`tap`; with a message a person is asked first", _tap, _write_tap, takes="element message"
    ),
    "Type": _TYPE,
    "Type_Name": _TYPE,
    "Swipe": WordRule("swipe", {"start": PlaceField("from"), "end": PlaceField("to")}, "start end"),
    "Long Press": WordRule("long_press", _ELEMENT, "element"),
    "Double Tap": WordRule("double_tap", _ELEMENT, "element"),
    "Back": WordRule("press_key", fixed={"key": "back"}),
    "Home": WordRule("press_key", fixed={"key": "home"}),
    "Wait": WordRule("wait", {"duration": SecondsField("duration_ms", as_words=True)}),
    "Take_over": SpecialWord("`request_human_auth`", _take_over, _write_take_over, takes="message"),
    "Interact": SpecialWord("`request_human_auth` for a choice", _interact, takes="message"),
    "Note": SpecialWord("nothing", _do_nothing),
    "Call_API": SpecialWord("nothing", _do_nothing),
    "finish": WordRule("finish", {"message": TextArgument("message")}, fixed={"status": "done"}),
}


def parse(output: Any) -> ParsedOutput:
    """The call inside `<answer>`, or the first one that there is."""
    text = cut_output(output)
    thought, answer = _THINK.search(text), _ANSWER.search(text)
    body = answer[1] if answer else _THINK.sub("", text)
    calls = [candidate for candidate in calls_in("\n" + body.strip()) if candidate.name in ("do", "finish")]
    begin = _CALL.search(body)
    if not calls and begin:  # behind a thought, in the same line
        calls = calls_in("\n" + body[begin.start() :].strip())[:1]
    if not calls:
        hint = 'Write do(action="Tap", element=[x,y]).'
        raise InvalidAction("there is no action in the answer", path="action", hint=hint)
    call, repairs = calls[0], list(calls[0].repairs)
    if len(calls) > 1:
        repairs.append(f"{len(calls)} actions, the first was taken")
    if not answer:
        repairs.append("there was no <answer>")
    thought_text = thought[1].strip() if thought else body.partition("do(")[0].partition("finish(")[0].strip()
    fields = dict(call.fields)
    word = "finish" if call.name == "finish" else str(fields.pop("action", ""))
    return ParsedOutput((WordCall(word, fields),), thought_text, tuple(repairs))


def form(word: str, fields: Fields) -> str:
    written = []
    for name, value in fields.items():
        text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        written.append(
            f"{name}=[{','.join(map(str, value))}]" if isinstance(value, list) else f'{name}="{text}"'
        )
    arguments = ", ".join(written)
    if word == "finish":
        return f"<answer>finish({arguments})</answer>"
    return f'<answer>do(action="{word}"{", " if arguments else ""}{arguments})</answer>'


GUIDE = """\
Write <think>why</think><answer>one call</answer>. The calls are
do(action="Launch", app="xxx"), do(action="Tap", element=[x,y]), do(action="Type", text="xxx"),
do(action="Swipe", start=[x1,y1], end=[x2,y2]), do(action="Long Press", element=[x,y]),
do(action="Double Tap", element=[x,y]), do(action="Back"), do(action="Home"),
do(action="Wait", duration="x seconds"), do(action="Take_over", message="xxx"), finish(message="xxx").
Coordinates go from 0 to 999 in both directions."""
DIALECT = Dialect(
    "autoglm", "Open-AutoGLM", "thousand", ROWS, parse, form, text_answer, GUIDE, is_text=True, shows=True
)
