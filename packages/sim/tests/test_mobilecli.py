from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest

from handrail_sim import shell
from handrail_sim.channels.http import HelperLife, Request
from handrail_sim.channels.mobilecli import PORT, Server
from handrail_sim.stream import pair
from tests.hand import Hand
from tests.host import settle

CONTACTS = "com.google.android.contacts"
MAIN = "com.mobilenext.mobilecli.DeviceServer"
START = f"CLASSPATH=/data/local/tmp/m.dex nohup app_process / {MAIN} >/dev/null 2>&1 &"


class Client:
    def __init__(self) -> None:
        self.hand = Hand()
        self.server = Server(self.hand.phone, "abc", HelperLife(self.hand.phone.faults))

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode()
        request = Request("POST", "/", {}, {}, body)
        answer: dict[str, Any] = json.loads((await self.hand.run(self.server.answer(request))).body)
        assert answer["id"] == 7
        return answer

    async def call(self, method: str, **params: Any) -> Any:
        return (await self.ask(method, **params))["result"]


def test_the_tree_has_every_window_but_the_keyboard() -> None:
    async def story() -> None:
        client = Client()
        await client.hand.open(CONTACTS)
        await client.hand.tap("Create new contact")
        field = next(seen for seen in client.hand.see() if seen["class"] == "android.widget.EditText")
        await client.hand.tap_at(*field.centre)
        roots = (await client.call("device.dump.ui", waitUntilIdle=1000))["hierarchy"]
        packages = [root["package"] for root in roots]
        assert CONTACTS in packages
        assert "com.android.systemui" in packages
        every = (await client.call("device.dump.ui", full=True))["hierarchy"]
        assert len(every) == len(roots) + 1
        assert (await client.call("device.io.keyboard.hide"))["dismissed"] is True
        assert (await client.call("device.io.keyboard.hide"))["dismissed"] is False

    asyncio.run(story())


def test_clipboard_apps_location_and_errors() -> None:
    async def story() -> None:
        client = Client()
        assert await client.call("device.version") == {"dexSha256": "abc"}
        assert await client.call("device.clipboard.set", text="carried") == {"ok": True}
        assert await client.call("device.clipboard.get") == {"text": "carried"}
        assert CONTACTS in [app["packageName"] for app in await client.call("device.apps.list")]
        assert await client.call("device.location.set", lat=52.5, lon=13.4) == {"ok": True}
        assert (await client.ask("device.location.set", lat=1))["error"]["code"] == -32602
        assert (await client.ask("device.dance"))["error"]["message"] == "Method not found: device.dance"

    asyncio.run(story())


def test_screenshots_are_cut_and_scaled() -> None:
    async def story() -> None:
        image = pytest.importorskip("PIL.Image")
        client = Client()
        body = {"id": 1, "method": "device.screenshot", "params": {"format": "jpeg", "maxSize": 240}}
        answer = await client.server.answer(Request("POST", "/", {}, {}, json.dumps(body).encode()))
        picture = image.open(BytesIO(b64decode(json.loads(answer.body)["result"]["data"])))
        assert (picture.format, picture.size) == ("JPEG", (108, 240))

    asyncio.run(story())


def test_it_is_started_in_the_background_and_ended_by_pkill() -> None:
    async def story() -> None:
        hand = Hand()
        hand.phone.files.write("/data/local/tmp/m.dex", b"dex")
        assert (await shell.capture(hand.phone, START)).status == 0
        await settle()
        ours, theirs = pair()
        served = asyncio.ensure_future(hand.phone.ports[PORT](theirs))
        body = b'{"id":1,"method":"device.version"}'
        await ours.write(
            b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        assert sha256(b"dex").hexdigest().encode() in await ours.read()
        await served
        assert (await shell.capture(hand.phone, "pkill -f '[D]eviceServer'")).status == 0
        await settle()
        assert PORT not in hand.phone.ports

    asyncio.run(story())
