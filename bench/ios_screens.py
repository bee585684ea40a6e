"""How small and how complete the screen texts of iPhones are, beside what other tools hand a model.

Over recorded page sources (HANDRAIL_CORPUS, its folder `ios`). The judge has a reader of its own, and knows
a ref by type and bounds. With MOBILE_MCP, the folder of @mobilenext/mobile-mcp, its list is made by its own
code; the forms of the others are written down below.
Run from the repository: `python bench/ios_screens.py [--json] [--corpus DIR] [--verbose]`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from lxml import etree
from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.raw_dump import Box, area, common  # noqa: E402
from bench.screen_quality import printed_refs, visible_text  # noqa: E402

from handrail.screen.parse import parse  # noqa: E402
from handrail.screen.refs import Registry  # noqa: E402

GOALS = {"touchable": 0.99, "texts": 0.98}
_KINDS = (
    "Button Link Icon Cell Switch Toggle CheckBox RadioButton TextField SecureTextField SearchField TextView"
    " Slider Tab PickerWheel MenuItem Stepper ComboBox PopUpButton MenuButton ToolbarButton ColorWell"
    " DisclosureTriangle DatePicker MenuBarItem IncrementArrow DecrementArrow"
)
TOUCHED = frozenset(_KINDS.split())
SCROLLED = frozenset({"ScrollView", "Table", "CollectionView", "WebView"})
LISTED = frozenset({"TextField", "Button", "Switch", "Icon", "SearchField", "StaticText", "Image"})
_LONG = 80
"""A box that says more than this repeats what is in it."""
count = openai.o200k_base().count


@dataclass(eq=False)
class RawElement:
    """One element, as its recording says."""

    kind: str
    box: Box
    label: str
    value: str
    placeholder: str
    name: str
    visible: bool
    enabled: bool
    traits: tuple[str, ...]
    parent: RawElement | None = None
    children: list[RawElement] = field(default_factory=list)

    def up(self) -> Iterator[RawElement]:
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator[RawElement]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def is_key(self) -> bool:
        return any(box.kind == "Keyboard" for box in (self, *self.up()))

    @property
    def is_touched(self) -> bool:
        return self.enabled and (self.kind in TOUCHED or not {"Button", "Link"}.isdisjoint(self.traits))


def read(raw: bytes) -> RawElement:
    text = raw.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    if not text.startswith("<"):
        return _from_json(json.loads(text), None)
    tag = etree.fromstring(raw, etree.XMLParser(recover=True, huge_tree=True))
    while not str(tag.tag).startswith("XCUIElementType") and len(tag):
        tag = tag[0]
    return _from_xml(tag, None)


def _from_xml(tag: Any, parent: RawElement | None) -> RawElement:
    get = tag.attrib.get
    element = RawElement(
        str(tag.tag).removeprefix("XCUIElementType"), _box(dict(tag.attrib)), get("label", ""),
        get("value", ""),
        get("placeholderValue", ""), get("name", ""), get("visible") != "false", get("enabled") != "false",
        tuple(get("traits", "").split(", ")), parent,
    )  # fmt: skip
    element.children = [_from_xml(child, element) for child in tag if isinstance(child.tag, str)]
    return element


def _from_json(item: dict[str, Any], parent: RawElement | None) -> RawElement:
    def said(*names: str) -> str:
        words = (item[name] for name in names if isinstance(item.get(name), str | int | float))
        return next((str(word) for word in words if word != ""), "")

    place = item.get("rect") or item.get("frame") or {}
    place = {**place["origin"], **place["size"]} if "origin" in place else place
    element = RawElement(
        re.sub("^(?:XCUIElementType|UIA|AX)", "", said("type", "role") or "Other"), _box(place),
        said("label", "AXLabel"), said("value", "AXValue"), said("placeholderValue", "placeholder"),
        said("name"), said("isVisible", "visible") not in ("0", "False", "false"),
        said("isEnabled", "enabled") not in ("0", "False", "false"), tuple(said("traits").split(", ")),
        parent,
    )  # fmt: skip
    element.children = [_from_json(child, element) for child in item.get("children") or []]
    return element


def _box(place: dict[str, Any]) -> Box:
    try:
        x, y, width, height = (float(place.get(side) or 0) for side in ("x", "y", "width", "height"))
    except ValueError:
        return 0, 0, 0, 0
    return round(x), round(y), round(x + width), round(y + height)


# judging


@dataclass
class Judged:
    """Of one screen, or of all of them."""

    touchable: int = 0
    texts: int = 0
    missed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def __add__(self, other: Judged) -> Judged:
        return Judged(
            self.touchable + other.touchable,
            self.texts + other.texts,
            self.missed + other.missed,
            self.lost + other.lost,
        )


def seen_elements(root: RawElement) -> list[RawElement]:
    """What a person sees, without the keyboard's keys."""
    windows = [child.box for child in root.children if child.kind == "Window" and area(child.box)]
    display = max(windows or [root.box], key=area)

    def is_seen(element: RawElement) -> bool:
        part = display if area(display) else element.box
        for box in (element, *(up for up in element.up() if up.kind in SCROLLED and area(up.box))):
            part = common(part, box.box)
        return element.visible and area(part) > 0 and not element.is_key

    return [element for element in root.walk() if is_seen(element)]


def judge(root: RawElement, text: str, refs: set[tuple[str, Box]]) -> Judged:
    """Each touchable has a ref of its own or wraps exactly one; each text is in what is printed."""
    seen = seen_elements(root)
    boxes = {box for _, box in refs}
    printed = visible_text(re.sub(r"\\([\"\\<`])", r"\1", text))
    wanted = [element for element in seen if element.is_touched]
    missed = [str((one.kind, one.label, one.box)) for one in wanted if not _has_ref(one, refs, boxes)]
    pieces: set[str] = set()
    for element in seen:
        if element.kind in ("Application", "Window"):
            continue
        is_repeated = len(element.label) > _LONG and any(child.label for child in element.children)
        pieces |= {"" if is_repeated else element.label, element.placeholder}
        if element.kind != "SecureTextField" and element.value not in ("0", "1", "true", "false"):
            pieces.add(element.value)
    pieces = {visible_text(piece) for piece in pieces} - {""}
    lost = sorted(piece for piece in pieces if piece[:60].strip() not in printed)
    return Judged(len(wanted), len(pieces), missed, lost)


def _has_ref(element: RawElement, refs: set[tuple[str, Box]], boxes: set[Box]) -> bool:
    if element.box in boxes:
        return True
    inner = [one for one in element.walk() if one is not element and (one.kind, one.box) in refs]
    return len([one for one in inner if not any(up in inner for up in one.up())]) == 1


def wrong_refs(files: list[Path]) -> tuple[int, int]:
    """(refs that stayed from one recording to the next, those of them that mean something else there)."""
    kept = wrong = 0
    for before, after in pairwise(files):
        registry = Registry()
        was = registry.rebuild(parse(before.read_bytes())).ref_map
        now = registry.rebuild(parse(after.read_bytes())).ref_map
        for ref in was.keys() & now.keys():
            kept += 1
            is_field = was[ref].role == "text_field"
            words = [
                (each.short_class, each.resource_id, each.description, "" if is_field else each.text)
                for each in (was[ref], now[ref])
            ]
            wrong += words[0] != words[1]
    return kept, wrong


# what other tools hand a model


def idb_text(root: RawElement) -> str:
    """`idb ui describe-all`: a flat list of what accessibility names."""
    listed: list[dict[str, Any]] = []
    for each in seen_elements(root):
        x, y, right, foot = each.box
        width, height = right - x, foot - y
        if each.label or each.value or each.is_touched:
            listed.append({
                "AXFrame": f"{{{{{x}, {y}}}, {{{width}, {height}}}}}", "AXUniqueId": each.name or None,
                "frame": {"x": x, "y": y, "width": width, "height": height}, "type": each.kind, "title": None,
                "role_description": each.kind.lower(), "AXLabel": each.label or None, "help": None,
                "content_required": False, "custom_actions": [], "AXValue": each.value or None,
                "enabled": each.enabled, "role": f"AX{each.kind}", "subrole": None,
            })  # fmt: skip
    return json.dumps(listed, ensure_ascii=False)


def agent_device_text(root: RawElement) -> str:
    """`agent-device snapshot`: an indented line for each element that has a name or can be touched."""
    lines: list[str] = []
    for each in seen_elements(root):
        if label := each.label or each.value or each.name or ("" if not each.is_touched else each.kind):
            depth = sum(1 for _ in each.up())
            off = "" if each.enabled else " [disabled]"
            lines.append(f'{"  " * min(depth, 8)}@e{len(lines) + 1} [{each.kind.lower()}] "{label}"{off}')
    return "\n".join(lines)


def mobile_mcp_text(root: RawElement) -> str:
    """`mobile_list_elements_on_screen`: by its own code where MOBILE_MCP names it, else by the same rules."""
    source = _wda_json(root)
    if folder := os.environ.get("MOBILE_MCP"):
        script = (
            f"const {{WebDriverAgent}} = require({json.dumps(folder + '/lib/webdriver-agent.js')});"
            f"const {{formatElements}} = require({json.dumps(folder + '/lib/format-elements.js')});"
            "const list = new WebDriverAgent('', 0).filterSourceElements("
            "JSON.parse(require('fs').readFileSync(0))); console.log(formatElements(list, 'text'))"
        )
        done = subprocess.run(
            ["node", "-e", script], input=json.dumps(source), capture_output=True, text=True, check=True
        )
        return done.stdout
    lines = []
    for each in root.walk():
        x, y, right, foot = each.box
        if each.kind in LISTED and each.visible and x >= 0 and y >= 0 and (each.label or each.name):
            named = {"label": each.label, "name": each.name, "value": each.value}
            words = [f"{name}={json.dumps(word, ensure_ascii=False)}" for name, word in named.items() if word]
            lines.append(" ".join([each.kind, *words, f"at={x},{y}", f"size={right - x}x{foot - y}"]))
    return "\n".join(lines)


def _wda_json(element: RawElement) -> dict[str, Any]:
    x, y, right, foot = element.box
    return {
        "type": element.kind, "label": element.label or None, "name": element.name or None,
        "value": element.value or None, "rawIdentifier": None, "isVisible": "1" if element.visible else "0",
        "rect": {"x": x, "y": y, "width": right - x, "height": foot - y},
        "children": [_wda_json(child) for child in element.children],
    }  # fmt: skip


def appium_text(raw: str) -> str:
    """Appium's page source: WebDriverAgent's, in a root of its own."""
    inside = re.sub(r"^<\?xml[^>]*\?>\s*", "", raw)
    return raw if "<AppiumAUT>" in raw else f'<?xml version="1.0"?>\n<AppiumAUT>{inside}</AppiumAUT>'


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", default=os.environ.get("HANDRAIL_CORPUS", "none"))
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--verbose", action="store_true", help="Name what was missed and lost.")
    chosen = arguments.parse_args()
    folder = Path(chosen.corpus) / "ios"
    files = sorted(path for kind in ("wda_xml", "idb", "other") for path in (folder / kind).glob("*"))
    if not files:
        print(f"no recordings in {folder}: set HANDRAIL_CORPUS", file=sys.stderr)
        return 0
    total, tokens = Judged(), {name: list[int]() for name in ("handrail", *_FORMS, "appium", "wda xml")}
    for path in files:
        raw = path.read_bytes()
        root, built = read(raw), Registry().rebuild(parse(raw))
        refs = {
            (built.ref_map[ref].short_class, tuple(built.ref_map[ref].bounds))
            for ref in printed_refs(built.text)
        }
        total += judge(root, built.text, refs)  # type: ignore[arg-type]
        if path.suffix == ".xml":
            tokens["handrail"].append(count(built.text))
            for name, form in _FORMS.items():
                tokens[name].append(count(form(root)))
            tokens["wda xml"].append(count(raw.decode("utf-8", "replace")))
            tokens["appium"].append(count(appium_text(raw.decode("utf-8", "replace"))))
    kept, wrong = wrong_refs(files)
    recall = 1 - len(total.missed) / max(1, total.touchable)
    texts = 1 - len(total.lost) / max(1, total.texts)
    row = {
        "files": len(files),
        "touchable": total.touchable,
        "recall": round(recall, 4),
        "texts": total.texts,
        "texts kept": round(texts, 4),
        "refs kept": kept,
        "refs wrong": wrong,
        "tokens": {name: [median(each), sorted(each)[len(each) * 9 // 10]] for name, each in tokens.items()},
    }
    print(json.dumps(row, indent=None if chosen.json else 1))
    for line in [*total.missed, *total.lost] if chosen.verbose else ():
        print(line, file=sys.stderr)
    return 0 if recall >= GOALS["touchable"] and texts >= GOALS["texts"] and not wrong else 1


_FORMS: dict[str, Callable[[RawElement], str]] = {
    "agent-device": agent_device_text, "mobile-mcp": mobile_mcp_text, "idb": idb_text,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
