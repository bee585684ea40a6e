"""Answers with a form: a number, a time, a date, one of a list, a text, a list; and how it is told.

They are compared exactly, after one stated normalisation; several candidates at once are no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from pydantic import Field

from handrail_eval.strict_part import StrictPart

Form = Literal["number", "time", "date", "choice", "text", "list"]


class AnswerForm(StrictPart):
    """What kind of answer a task asks for."""

    form: Form
    options: tuple[str, ...] = Field(default=(), strict=False)
    """Of a choice, or of the entries of a list; told to the model."""
    unit: str = ""
    """Of a number; it may stand before or behind it, or be left out."""
    ordered: bool = False
    """Of a list: the order counts."""

    def told(self) -> str:
        """A sentence for the instruction."""
        unit = f" in {self.unit}" if self.unit else ""
        order = "in this order" if self.ordered else "in any order"
        options = f": {', '.join(self.options)}" if self.options else ""
        entries = f"; entries are of these{options}" if options else ""
        words = {
            "number": f"a number{unit} and nothing else, such as 1250 or 12.5",
            "time": "a time and nothing else, such as 07:05",
            "date": "a date and nothing else, such as 2026-03-04",
            "choice": f"exactly one of these{options}",
            "text": "exactly the words as they stand on the screen, and nothing else",
            "list": f"a list with one entry per line, {order}{entries}",
        }
        return f"Give the answer in the field `answer` of finish: {words[self.form]}."


def same_answer(form: AnswerForm, given: str, wanted: Any) -> bool:
    """Whether this is the answer and nothing besides."""
    if form.form == "list":
        entries = [_text(one) for one in re.split(r"[\n;]", given) if one.strip()]
        right = [_text(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
        return entries == right if form.ordered else sorted(entries) == sorted(right)
    read = {"number": _number_of(form.unit), "time": _time, "date": _date}.get(form.form, _text)
    found = read(given)
    return found is not None and found == read(str(wanted))


_NUMBER = re.compile(r"[-+−]?\d{1,3}(?:[, ’']\d{3})+(?:\.\d+)?|[-+−]?\d+(?:\.\d+)?", re.ASCII)


def _number_of(unit: str) -> Any:
    """12,500 and 12500 and £12,500.00 are one number; a unit is not needed and another is wrong."""
    marks = {unit.casefold(), *({"£", "€", "$"} if unit in ("£", "€", "$", "pounds", "euros") else set())} - {
        ""
    }

    def read(text: str) -> Decimal | None:
        words = text.strip().casefold().rstrip(".")
        for mark in marks:
            words = words.removeprefix(mark).removesuffix(mark).strip()
        if _NUMBER.fullmatch(words) is None:
            return None
        try:
            return Decimal(re.sub(r"[, ’']", "", words).replace("−", "-"))
        except InvalidOperation:
            return None

    return read


_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE)


def _time(text: str) -> tuple[int, int] | None:
    """7:05, 07:05 and 7:05 AM are one time; a bare hour needs AM or PM."""
    found = _TIME.fullmatch(text.strip())
    if found is None or (found[2] is None and found[3] is None):
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower().startswith("p") else 0)
    return (hour, minute) if hour < 24 and minute < 60 else None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _text(text: Any) -> str:
    """Case, quotes around it, a full stop behind it and doubled spaces do not count."""
    return " ".join(str(text).strip().strip("\"'“”‘’").rstrip(".").split()).casefold()


def wrong_answers(form: AnswerForm, right: Any) -> Sequence[str]:
    """Of the right kind and not right: what a liar says, and what a check has to refuse."""
    match form.form:
        case "number":
            found = _number_of(form.unit)(str(right)) or Decimal(0)
            return [str(found + 1), "7"] if found != 7 else [str(found + 1)]
        case "time":
            return ["03:33"]
        case "date":
            return ["2001-01-01"]
        case "choice":
            return [option for option in form.options if _text(option) != _text(right)] or ["none of them"]
        case "list":
            return ["Nothing of it"]
        case _:
            return [f"{right} or so", "Lantern"]
