"""What a caller is answered, where its maker has a form for that; the rest is told as plain data."""

from __future__ import annotations

from typing import Any

from handrail.dialects.table import WordsRead, WordsTold


def words_of(reading: WordsRead, told: WordsTold) -> str:
    """What was done or why not, and where a phone did something else than was said."""
    said = told.text if told.success else f"{told.code}: {told.text} {told.hint or ''}".strip()
    notes = [f"Note: {note}." for note in reading.notes]
    mended = [f"Repaired: {', '.join(reading.repairs)}."] if reading.repairs else []
    return "\n".join(part for part in (reading.reply, said, *notes, *mended) if part)


def plain_answer(reading: WordsRead, told: WordsTold) -> dict[str, Any]:
    """For formats that are written down and never answered."""
    answer: dict[str, Any] = {"success": told.success, "text": words_of(reading, told)}
    if not told.success:
        answer |= {"code": told.code, "hint": told.hint}
    return answer


def text_answer(reading: WordsRead, told: WordsTold) -> dict[str, Any]:
    """The next message to a model that prints text: the words, and the picture it looks at."""
    return user_message(words_of(reading, told), told)


def tool_answer(reading: WordsRead, told: WordsTold) -> dict[str, Any]:
    """The same for models that were trained on calls in tags."""
    return user_message(f"<tool_response>\n{words_of(reading, told)}\n</tool_response>", told)


def user_message(words: str, told: WordsTold) -> dict[str, Any]:
    """In the form that servers of open models take."""
    content: list[dict[str, Any]] = [{"type": "text", "text": words}]
    if told.picture:
        address = f"data:image/png;base64,{told.picture}"
        content.append({"type": "image_url", "image_url": {"url": address}})
    return {"role": "user", "content": content}
