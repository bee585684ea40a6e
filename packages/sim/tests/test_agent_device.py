"""agent-device's helper: one question by `am instrument`, or many over its port."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode, b64encode
from typing import Any
from xml.etree import ElementTree

from handrail_sim import shell
from handrail_sim.stream import pair
from tests.apks import instrumented_apk
from tests.hand import Hand
from tests.host import settle

PACKAGE = "com.callstack.agentdevice.snapshothelper"
RUNNER = f"{PACKAGE}/.SnapshotInstrumentation"
CONTACTS = "com.google.android.contacts"


class Client:
    def __init__(self) -> None:
        self.hand = Hand(apps=["contacts"])

    async def install(self) -> None:
        data = instrumented_apk(PACKAGE, PACKAGE, f"{PACKAGE}.SnapshotInstrumentation")
        assert (await shell.capture(self.hand.phone, f"cmd package install -S {len(data)}", data)).status == 0

    async def once(self, *more: str) -> str:
        command = f"am instrument -w {' '.join(f'-e {one}' for one in more)} {RUNNER}"
        return str((await self.hand.run(shell.capture(self.hand.phone, command))).text)

    async def ask(self, line: str) -> tuple[dict[str, str], str]:
        ours, theirs = pair()
        serving = asyncio.ensure_future(self.hand.phone.ports["tcp:7001"](theirs))
        await ours.write(f"{line}\n".encode())
        await self.hand.run(serving)
        answer = b""
        while part := await ours.read():
            answer += part
        head, _, body = answer.decode().partition("\n\n")
        return dict(row.split("=", 1) for row in head.splitlines()), body


def results(text: str) -> dict[str, str]:
    return dict(re.findall(r"^INSTRUMENTATION_RESULT: (\w+)=(.*)$", text, re.MULTILINE))


def plan(*points: tuple[int, int, int], **more: Any) -> str:
    samples = [{"offsetMs": at, "x": x, "y": y} for at, x, y in points]
    made = {
        "protocol": "android-touch-plan-v1",
        "kind": "swipe",
        "pointers": [{"pointerId": 0, "samples": samples}],
    }
    return b64encode(json.dumps({**made, **more}).encode()).decode()


def test_one_snapshot_comes_in_chunks_and_has_every_window() -> None:
    async def story() -> None:
        client = Client()
        await client.install()
        await client.hand.open(CONTACTS)
        text = await client.once("maxNodes 5000")
        assert results(text)["ok"] == "true"
        assert text.rstrip().endswith("INSTRUMENTATION_CODE: -1")
        parts = re.findall(r"payloadBase64=(\S+)", text)
        root = ElementTree.fromstring(b"".join(b64decode(one) for one in parts))
        windows = {
            one.attrib["package"]: one.attrib["window-type"] for one in root if "window-type" in one.attrib
        }
        assert windows[CONTACTS] == "1"
        assert windows["com.android.systemui"] == "3"
        assert len(list(root.iter("node"))) == int(results(text)["nodeCount"])
        few = await client.once("maxNodes 5", "emitChunks false", "outputPath /data/local/tmp/s.xml")
        assert (results(few)["nodeCount"], results(few)["truncated"]) == ("5", "true")
        assert "payloadBase64" not in few
        assert client.hand.phone.files.read("/data/local/tmp/s.xml").startswith(b"<?xml")

    asyncio.run(story())


def test_a_session_answers_until_it_is_told_to_quit() -> None:
    async def story() -> None:
        client = Client()
        await client.install()
        await client.hand.open(CONTACTS)
        command = f"am instrument -w -e sessionPort 7001 {RUNNER}"
        serving = asyncio.ensure_future(shell.capture(client.hand.phone, command))
        await settle()
        head, xml = await client.ask("snapshot s-1")
        assert (head["requestId"], head["ok"], int(head["byteLength"])) == ("s-1", "true", len(xml.encode()))
        assert "Create new contact" in xml
        before = client.hand.words()
        head, _ = await client.ask(f"gesture g-1 {plan((0, 540, 1800), (150, 540, 900), (300, 540, 500))}")
        assert (head["ok"], head["injectedEvents"]) == ("true", "4")
        assert client.hand.words() != before
        head, _ = await client.ask("viewport v-1")
        assert (head["width"], head["requestId"]) == ("1080", "v-1")
        for line in ("dance d-1", "", "gesture g-2", f"gesture g-3 {plan((0, 1, 1))}", "gesture g-4 !!"):
            head, _ = await client.ask(line)
            assert head["ok"] == "false"
            assert head["message"]
        head, _ = await client.ask(f"gesture g-5 {plan((0, 1, 1), (9, 1, 1), kind='dance')}")
        assert head["message"] == "Unsupported kind: dance"
        assert (await client.ask("quit q-1"))[0]["ok"] == "true"
        answer = await client.hand.run(serving)
        assert "sessionReady=true" in answer.text
        assert answer.text.rstrip().endswith("INSTRUMENTATION_CODE: -1")
        assert "tcp:7001" not in client.hand.phone.ports

    asyncio.run(story())


def test_a_mode_that_is_not_known_is_an_answer_and_not_a_crash() -> None:
    async def story() -> None:
        client = Client()
        await client.install()
        assert results(await client.once("mode dance"))["message"] == "Unsupported mode: dance"
        assert results(await client.once("mode viewport"))["ok"] == "true"
        told = results(
            await client.once("mode gesture", f"payloadBase64 {plan((0, 500, 500), (50, 500, 500))}")
        )
        assert (told["ok"], told["kind"]) == ("true", "swipe")
        assert results(await client.once("sessionPort x"))["ok"] == "false"

    asyncio.run(story())
