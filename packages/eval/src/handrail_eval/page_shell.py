"""What the pages of evaluations share: one file without network, in the dress of the other reports."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from handrail.flow.report.summary import Content, Html, tag


def whole_page(title: str, *body: Content) -> str:
    """Only our own style and script are allowed, by their hashes; pictures only from beside the page."""
    policy = (
        "default-src 'none'; img-src 'self' file:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(_style())}; script-src {_hash(_script())}"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Handrail"),
        tag("style", Html(_style())),
    )
    content = tag("body", *body, tag("script", Html(_script())))
    return "<!doctype html>\n" + tag("html", head, content, lang="en") + "\n"


@cache
def _style() -> str:
    return _read("handrail.flow.report", "style.css") + _read("handrail_eval", "pages.css")


@cache
def _script() -> str:
    return _read("handrail_eval", "pages.js")


def _read(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def facts(told: Mapping[str, object]) -> Html:
    """Names with values, in a row."""
    return tag(
        "dl",
        [tag("div", tag("dt", name), tag("dd", tag("bdi", str(value)))) for name, value in told.items()],
        class_="summary",
    )


def table(header: Sequence[str], rows: Sequence[Html], label: str, *, numbers: int = 0) -> Html:
    """The last `numbers` columns are numbers."""
    first_number = len(header) - numbers
    heads = [
        tag("th", name, scope="col", class_="count" if at >= first_number else None)
        for at, name in enumerate(header)
    ]
    inside = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows))
    return tag("div", inside, class_="wide", role="region", aria_label=label, tabindex=0)


def percent(rate: float | None) -> str:
    """With one digit, which is more than most intervals allow."""
    return "unknown" if rate is None else f"{100 * rate:.1f} %"


def interval(low_high: Sequence[float] | None) -> str:
    """Empty where there is none."""
    return "" if low_high is None else f"{100 * low_high[0]:.1f}–{100 * low_high[1]:.1f} %"


def bar(rate: float) -> Html:
    """A rate to be seen; the words beside it say the same. The page allows no style on an element."""
    return tag("meter", f"{100 * rate:.0f} %", min=0, max=1, value=round(rate, 4))


def figures(told: Mapping[str, tuple[str, str]]) -> Html:
    """Large numbers with their doubt below."""
    items: list[Any] = [
        tag("li", tag("span", name, class_="name"), tag("b", value), tag("span", doubt))
        for name, (value, doubt) in told.items()
    ]
    return tag("ul", items, class_="figures", aria_label="Figures")
