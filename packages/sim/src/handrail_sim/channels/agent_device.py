"""agent-device's helper inside the phone: windows as uiautomator XML, touch plans, over plain lines.

`am instrument` runs it once for one question, or with `sessionPort` as a server that takes one line a
connection: `snapshot|gesture|viewport|quit ID [BASE64]`, answered by `name=value` lines.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Iterator
from typing import Any

from handrail_sim.channels.http import HelperLife
from handrail_sim.channels.u2.server import quote
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, tree
from handrail_sim.shell.call import Call
from handrail_sim.stream import Stream
from handrail_sim.view.scrolling import at_end, at_start
from handrail_sim.view.windows import Window

PROTOCOL, PLAN = "android-snapshot-helper-v1", "android-touch-plan-v1"
BASE = {"agentDeviceProtocol": PROTOCOL, "helperApiVersion": "1", "outputFormat": "uiautomator-xml"}
CHUNK = 8192
LONGEST_LINE, LONGEST_MS = 1 << 20, 120_000
TYPES = {"ime": 2, "status_bar": 3, "navigation_bar": 3, "shade": 3, "toast": 3, "heads_up": 3, "volume": 3}
"""AccessibilityWindowInfo's types; what is not named here is an application's."""
_FLAGS = ("clickable", "enabled", "focusable", "focused", "password", "scrollable", "selected")


class Failed(Exception):
    """An answer with `ok=false`; the text goes into `message`."""


async def main(call: Call) -> int:
    """The instrumentation: by its arguments a session, one gesture, one viewport, or one snapshot."""
    options = arguments(call.argv)
    helper = Helper(call.phone, options)
    call.phone.request_accessibility()
    try:
        if "sessionPort" in options:
            return await _serve(call, helper, options["sessionPort"])
        answer = await _once(call, helper, options)
    except Failed as problem:
        answer = {"ok": "false", "errorType": "java.lang.IllegalArgumentException", "message": str(problem)}
    for name, value in sorted({**BASE, **answer}.items()):
        await call.line(f"INSTRUMENTATION_RESULT: {name}={value}")
    return await call.line(f"INSTRUMENTATION_CODE: {-1 if answer['ok'] == 'true' else 1}")


def arguments(words: list[str]) -> dict[str, str]:
    """What `-e NAME VALUE` gave."""
    places = [at for at, word in enumerate(words) if word == "-e" and at + 2 < len(words)]
    return {words[at + 1]: words[at + 2] for at in places}


async def _once(call: Call, helper: Helper, arguments: dict[str, str]) -> dict[str, str]:
    mode = arguments.get("mode", "snapshot")
    if mode == "gesture":
        return await helper.gesture(arguments.get("payloadBase64", ""))
    if mode == "viewport":
        return helper.viewport()
    if mode != "snapshot":
        raise Failed(f"Unsupported mode: {mode}")
    facts, xml = await helper.snapshot()
    if arguments.get("outputPath"):
        call.session.files.write(call.path(arguments["outputPath"]), xml)
    if arguments.get("emitChunks", "true") != "false":
        await _chunks(call, xml)
    return facts


async def _chunks(call: Call, xml: bytes) -> None:
    parts = [xml[at : at + CHUNK] for at in range(0, len(xml), CHUNK)]
    for number, part in enumerate(parts):
        fields = {**BASE, "chunkCount": str(len(parts)), "chunkIndex": str(number)}
        fields["payloadBase64"] = b64encode(part).decode()
        lines = "".join(f"INSTRUMENTATION_STATUS: {name}={fields[name]}\n" for name in sorted(fields))
        await call.out(f"{lines}INSTRUMENTATION_STATUS_CODE: 1\n")


async def _serve(call: Call, helper: Helper, port: str) -> int:
    ports, name = call.phone.ports, f"tcp:{port}"
    if name in ports or not port.isdigit():
        raise Failed("Address already in use")
    life = HelperLife(call.phone.faults)

    async def connection(stream: Stream) -> None:
        try:
            await stream.write(await helper.answer(await _line(stream), life))
        finally:
            stream.close()

    ports[name] = connection
    try:
        ready = {**BASE, "sessionReady": "true", "sessionPort": port}
        lines = "".join(f"INSTRUMENTATION_STATUS: {key}={ready[key]}\n" for key in sorted(ready))
        await call.out(f"{lines}INSTRUMENTATION_STATUS_CODE: 2\n")
        await life.ended.wait()
    finally:
        ports.pop(name, None)
    if life.is_dead:
        return await call.line("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0")
    for key, value in sorted({**BASE, "ok": "true", "sessionEnded": "true"}.items()):
        await call.line(f"INSTRUMENTATION_RESULT: {key}={value}")
    return await call.line("INSTRUMENTATION_CODE: -1")


async def _line(stream: Stream) -> str:
    held = b""
    while b"\n" not in held and len(held) < LONGEST_LINE:
        part = await stream.read()
        if not part:
            break
        held += part
    return held.partition(b"\n")[0].decode("utf-8", "replace").strip()


class Helper:
    """What it can be asked for."""

    def __init__(self, phone: Handset, arguments: dict[str, str]) -> None:
        self.phone = phone
        self.numbers = {"waitForIdleTimeoutMs": 500, "waitForIdleQuietMs": 100, "timeoutMs": 8000}
        self.numbers |= {"maxDepth": 128, "maxNodes": 5000}
        self.numbers |= {
            name: int(arguments[name]) for name in self.numbers if arguments.get(name, "").isdigit()
        }

    async def answer(self, line: str, life: HelperLife) -> bytes:
        life.count_request()
        verb, name, payload = [*line.split(None, 2), "", "", ""][:3]
        facts, body = {"ok": "true"}, b""
        try:
            if verb == "snapshot":
                await self.phone.refresh_web()
                facts, body = await self.snapshot()
            elif verb == "gesture":
                facts = await self.gesture(payload)
            elif verb == "viewport":
                facts = self.viewport()
            elif verb == "quit":
                asyncio.get_running_loop().call_soon(life.ended.set)
            else:
                raise Failed(f"unknown session command: {verb}" if verb else "empty command")
        except Failed as problem:
            facts = {"ok": "false", "message": str(problem)}
            facts["errorType"] = "java.lang.IllegalArgumentException"
        fields = {**BASE, "requestId": name, **facts}
        return "".join(f"{key}={value}\n" for key, value in fields.items()).encode() + b"\n" + body

    # looking

    async def snapshot(self) -> tuple[dict[str, str], bytes]:
        began = self.phone.clock.monotonic_ms()
        await self._quiet()
        windows = list(reversed(self.phone.windows()))
        writer = Writer(self.phone, self.numbers["maxDepth"], self.numbers["maxNodes"])
        xml = writer.document(windows).encode("utf-8", "replace")
        facts = {name: str(value) for name, value in self.numbers.items()}
        facts |= {
            "ok": "true",
            "rootPresent": str(bool(windows)).lower(),
            "captureMode": "interactive-windows",
        }
        facts |= {"windowCount": str(len(windows)), "nodeCount": str(writer.count)}
        facts["truncated"] = str(writer.count >= self.numbers["maxNodes"]).lower()
        facts["elapsedMs"] = str(round(self.phone.clock.monotonic_ms() - began))
        return {**facts, "byteLength": str(len(xml))}, xml

    async def _quiet(self) -> None:
        clock, phone = self.phone.clock, self.phone
        end = clock.monotonic_ms() + self.numbers["waitForIdleTimeoutMs"]
        quiet = self.numbers["waitForIdleQuietMs"]
        while clock.monotonic_ms() < min(end, phone.last_event_ms + quiet):
            await clock.sleep_ms(20.0)
            phone.is_idle()  # brings timers and animations up to now

    def viewport(self) -> dict[str, str]:
        """Where a gesture may go: the active window, and what the keyboard covers."""
        shown = self.phone.windows()
        active = next((window for window in reversed(shown) if window.has_focus), None)
        if active is None:
            raise Failed("Active application interaction viewport is unavailable")
        fields = {"ok": "true", **_box("x y width height", active)}
        keyboard = next((window for window in shown if window.type == "ime"), None)
        if keyboard is not None:
            fields |= _box("keyboardX keyboardY keyboardWidth keyboardHeight", keyboard)
        return fields

    # touching

    async def gesture(self, payload: str) -> dict[str, str]:
        kind, fingers = _plan(payload)
        began, sent = self.phone.clock.monotonic_ms(), 0
        times = [sample[0] for sample in fingers[0]]
        for _ in range(self.phone.chances()):
            before = 0.0
            for number, at in enumerate(times):
                await self.phone.clock.sleep_ms(at - before)
                before = at
                for finger, samples in enumerate(fingers):
                    self.phone.pointer("move" if number else "down", *samples[number][1:], finger)
                    sent += 1
            for finger, samples in reversed(list(enumerate(fingers))):
                self.phone.pointer("up", *samples[-1][1:], finger)
                sent += 1
        took = round(self.phone.clock.monotonic_ms() - began)
        return {"ok": "true", "kind": kind, "injectedEvents": str(sent), "elapsedMs": str(took)}


Samples = list[tuple[float, float, float]]


def _plan(payload: str) -> tuple[str, list[Samples]]:
    """Kind, and for each finger its samples: ms, x, y."""
    try:
        plan: dict[str, Any] = json.loads(b64decode(payload, validate=True))
        kind, fingers = str(plan["kind"]), [_samples(pair) for pair in plan["pointers"]]
        protocol = plan.get("protocol")
    except (BadBase64, ValueError, KeyError, TypeError, AttributeError):
        raise Failed("Missing payloadBase64" if not payload else "The plan can't be read") from None
    if protocol != PLAN:
        raise Failed(f"Unsupported protocol: {protocol}")
    if kind not in {"swipe", "transform"}:
        raise Failed(f"Unsupported kind: {kind}")
    times = [pair[0] for pair in fingers[0]] if fingers else []
    if len(fingers) not in (1, 2) or any([pair[0] for pair in way] != times for way in fingers):
        raise Failed("Planned pointer paths must have matching samples")
    if len(times) < 2 or times != sorted(times) or times[0] < 0 or times[-1] > LONGEST_MS:
        raise Failed("Planned sample offsets must be strictly increasing")
    return kind, fingers


def _samples(pointer: dict[str, Any]) -> Samples:
    return [(float(entry["offsetMs"]), float(entry["x"]), float(entry["y"])) for entry in pointer["samples"]]


def _box(names: str, window: Window) -> dict[str, str]:
    left, top, right, bottom = window.root.clip
    numbers = (left, top, right - left, bottom - top)
    return dict(zip(names.split(), map(str, numbers), strict=True))


class Writer:
    """Windows as XML, with so many nodes at most."""

    def __init__(self, phone: Handset, depth: int, most: int) -> None:
        self.phone = phone
        self.count = 0
        self._depth = depth
        self._most = most

    def document(self, windows: list[Window]) -> str:
        parts = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"]
        parts.append(f'<hierarchy rotation="{self.phone.display.rotation}">')
        for number, window in enumerate(windows):
            parts += self._node(tree(window), 0, _window(window, number, len(windows)))
        return "".join([*parts, "</hierarchy>"])

    def _node(self, node: Node, depth: int, more: str = "") -> Iterator[str]:
        if self.count >= self._most or depth > self._depth:
            return
        self.count += 1
        yield f"<node{self._words(node)}{more}>"
        for child in node.children:
            yield from self._node(child, depth + 1)
        yield "</node>"

    def _words(self, node: Node) -> str:
        left, top, right, bottom = node.bounds
        flags = "".join(f' {name}="{str(getattr(node, name)).lower()}"' for name in _FLAGS)
        view = node.view
        if node.scrollable:
            flags += f' can-scroll-forward="{str(not at_end(view, self.phone.units)).lower()}"'
            flags += f' can-scroll-backward="{str(not at_start(view)).lower()}"'
        if view.editable:
            hinted = str(not view.text and bool(view.hint)).lower()
            flags += f' editable="true" hint-showing="{hinted}" selection-start="{view.selection[0]}"'
            flags += f' selection-end="{view.selection[1]}"'
        return (
            f' index="{node.index}" text={quote(node.text)} resource-id={quote(node.resource_id)} '
            f'class="{node.cls}" package="{node.package}" content-desc={quote(node.desc)}{flags} '
            f'visible-to-user="true" bounds="[{left},{top}][{right},{bottom}]" '
            f'drawing-order="{node.drawing_order or 1}"'
        )


def _window(window: Window, number: int, count: int) -> str:
    left, top, right, bottom = window.root.clip
    focus = str(window.has_focus).lower()
    return (
        f' window-index="{number}" window-type="{TYPES.get(window.type, 1)}" window-layer="{count - number}" '
        f'window-active="{focus}" window-focused="{focus}" window-bounds="[{left},{top}][{right},{bottom}]"'
    )
