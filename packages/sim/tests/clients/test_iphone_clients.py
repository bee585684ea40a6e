"""Public iOS tools against a simulated iPhone, judged by what the phone did.

Each is tried when SIM_CLIENTS names the folder that install.sh filled; docs/iphone.md says what each did.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from handrail_sim.clock import SystemClock
from handrail_sim.iphone import IPhone, ServedIPhone, serve_iphone
from tests.clients.bench import SCRIPTS, appium_server, free_port
from tests.clients.test_clients import installed, node_of
from tests.clients.wda_e2e_app import SuiteApp

pytestmark = pytest.mark.slow
APPS = ("settings", "notes", "contacts", "browser", "gallery", "messages", SuiteApp)
DIFFERENT = {
    "test_alert_text_input": "7.1.1 said the general words for a missing alert, 16.7 says 'No alert is open'",
    "test_appium_settings": "16.7 has other settings than the schema of 7.1.1 allows",
}
"""Tests of facebook-wda's suite that its author's phone passed and this one does not, and why."""
NOT_DISTRIBUTED = {"test_timeouts"}
"""It is in the author's report; the source distribution has no such test."""


@dataclass
class Bench:
    """A phone that is served in a thread of its own."""

    served: ServedIPhone

    @property
    def phone(self) -> IPhone:
        return self.served.phone

    def run(self, *command: object, timeout: float = 300, cwd: Path | None = None, **env: str) -> str:
        words = [str(word) for word in command]
        environment = {**os.environ, "USBMUXD_SOCKET_ADDRESS": self.served.usbmux, **env}
        environment["DEVICE_URL"] = self.served.wda_url
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=timeout, env=environment, cwd=cwd
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    def did(self, action: str) -> list[dict[str, Any]]:
        return [entry for entry in self.phone.input_log if entry["action"] == action]


@contextmanager
def bench() -> Iterator[Bench]:
    ready, stop = threading.Event(), asyncio.Event()
    made: list[ServedIPhone] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serve_iphone(IPhone(clock=SystemClock(), apps=APPS)) as served:
            made.append(served)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield Bench(made[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


@pytest.fixture
def iphone() -> Iterator[Bench]:
    with bench() as made:
        yield made


def test_every_call_of_facebook_wda(iphone: Bench) -> None:
    told = iphone.run(installed("facebook-wda") / "bin/python", SCRIPTS / "python_facebook_wda.py")
    calls = json.loads(told.rpartition("did: ")[2])
    assert len(calls) >= 60
    assert [entry["text"] for entry in iphone.did("text")] == ["From facebook-wda", "Typed\n"]
    assert len(iphone.did("lock")) == 2
    assert iphone.phone.packages.is_granted("com.handrail.gallery", "android.permission.READ_MEDIA_IMAGES")


def test_the_suite_of_facebook_wda_ends_as_on_its_authors_phone(iphone: Bench, tmp_path: Path) -> None:
    """Test by test against the report that its author put beside it."""
    folder = installed("facebook-wda")
    suite = next(folder.glob("facebook*/e2e_benchmarks"))
    report = (suite / "reports/WDA_V711.md").read_text()
    wanted = dict(re.findall(r"::(test_\w+) (PASSED|SKIPPED)", report))
    told = subprocess.run(
        [folder / "bin/python", "-m", "pytest", "-v", "-p", "no:cacheprovider", suite.name],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=suite.parent,
        env={**os.environ, "DEVICE_URL": iphone.served.wda_url},
    ).stdout
    ended = dict(re.findall(r"::(test_\w+) (PASSED|SKIPPED|FAILED|ERROR)", told))
    assert len(ended) >= 75, told[-4000:]
    assert wanted.keys() - ended.keys() == NOT_DISTRIBUTED
    others = {name for name, outcome in ended.items() if name in wanted and outcome != wanted[name]}
    assert others == DIFFERENT.keys(), told[-8000:]


def test_go_ios_lists_and_forwards(iphone: Bench) -> None:
    ios = next(installed("go-ios").glob("node_modules/go-ios/dist/*linux*amd64*/ios"))
    assert json.loads(iphone.run(ios, "list")) == {"deviceList": [iphone.served.udid]}
    with _forwarding(iphone, ios, "forward", "{port}", "8100") as port:
        assert _status(port)["ready"]


def test_pymobiledevice3_forwards(iphone: Bench) -> None:
    tool = installed("pymobiledevice3") / "bin/pymobiledevice3"
    with _forwarding(
        iphone, tool, "usbmux", "forward", "{port}", "8100", "--serial", iphone.served.udid
    ) as port:
        assert _status(port)["ready"]


def test_appium_drives_by_its_xcuitest_driver(iphone: Bench, tmp_path: Path) -> None:
    """Its driver wants lockdown, WebInspector or an archive for four commands, and an iPad for one."""
    folder = installed("appium-ios")
    python = installed("facebook-wda") / "bin/python"
    with appium_server(dict(os.environ), tmp_path, folder) as port:
        words, about = (python, SCRIPTS / "python_appium_ios.py"), {"APPIUM_PORT": str(port)}
        told = iphone.run(*words, UDID=iphone.served.udid, **about)
        iphone.phone.is_ipad = True
        on_tablet = iphone.run(*words, UDID=iphone.served.udid, ONLY="keys", **about)
    assert json.loads(on_tablet.rpartition("did: ")[2]) == {"keys": "ok"}
    ended = json.loads(told.rpartition("did: ")[2])
    failed = {name: why for name, why in ended.items() if why != "ok"}
    assert failed.keys() == {"listApps", "deviceInfo", "install", "contexts", "keys"}, failed
    assert "typeKey" in failed["keys"]
    assert [entry["text"] for entry in iphone.did("text")] == ["Appium was here"]
    assert iphone.phone.display.dark


def test_the_class_of_mobile_mcp_sees_taps_types_and_turns(iphone: Bench) -> None:
    folder = installed("mobile-mcp")
    told = iphone.run(node_of(folder), SCRIPTS / "mobile_mcp_ios.mjs", folder, cwd=folder)
    assert "did: " in told
    assert [entry["text"] for entry in iphone.did("text")] == ["By mobile-mcp"]
    assert [entry["turns"] for entry in iphone.did("rotate")] == [1, 0]


@contextmanager
def _forwarding(iphone: Bench, *command: object) -> Iterator[int]:
    port = free_port()
    words = [str(word).format(port=port) for word in command]
    env = {**os.environ, "USBMUXD_SOCKET_ADDRESS": iphone.served.usbmux}
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            yield port
        finally:
            process.terminate()


def _status(port: int) -> dict[str, Any]:
    """Asked until the forwarder listens."""
    for _ in range(200):
        try:
            with urlopen(f"http://127.0.0.1:{port}/status", timeout=5) as answer:
                content: dict[str, Any] = json.loads(answer.read())["value"]
                return content
        except OSError:
            threading.Event().wait(0.1)
    raise AssertionError("nobody listens")
