"""A person who follows docs/devices.md. One environment plays the phone behind the stock adb, one is theirs.

Nothing is read but what the commands themselves print. The phone has the profile `hardware`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.android.uiautomator2 import PID

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.timeout(1_500),
    pytest.mark.skipif(not os.environ.get("HANDRAIL_NEW_USER"), reason="HANDRAIL_NEW_USER=1 builds a venv"),
]
MOST_S, MOST_COMMANDS = 300, 3


@dataclass
class Place:
    """An environment with nothing of this repository's but what pip put there."""

    folder: Path
    adb_port: int

    @property
    def bin(self) -> Path:
        return self.folder / "venv" / "bin"

    @property
    def env(self) -> dict[str, str]:
        keep = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
        home = {"HOME": str(self.folder), "HANDRAIL_HOME": str(self.folder / "home")}
        path = f"{self.bin}:{os.environ['PATH']}"
        more = {"ANDROID_ADB_SERVER_PORT": str(self.adb_port), "HANDRAIL_NO_DAEMON": "1"}
        return {"PATH": path, **home, **more, **keep}

    def install(self, what: Path) -> None:
        venv.create(self.folder / "venv", with_pip=True)
        command = [self.bin / "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what]
        subprocess.run(command, cwd=self.folder, env=self.env, check=True, timeout=900)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clone") / "handrail"
    subprocess.run(["git", "clone", "--quiet", ROOT, place], check=True)
    return place


@pytest.fixture
def phone(clone: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`handrail-sim` with the hardware profile; it asks for the key of whoever connects."""
    place = Place(tmp_path / "phone", 0)
    place.folder.mkdir()
    place.install(clone / "packages" / "sim")
    command = [place.bin / "handrail-sim", "--profile", "hardware", "--auth", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place.env, cwd=place.folder)
    with process:
        yield process
        process.terminate()


@pytest.fixture
def person(clone: Path, tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path / "person", free_port())
    place.folder.mkdir()
    place.install(clone)
    listed = place.run("pip", "list").stdout
    assert "handrail-sim" not in listed
    yield place
    place.run(*adb(place), "kill-server")


def adb(place: Place) -> tuple[str]:
    [found] = (place.folder / "venv").glob("lib/*/site-packages/adbutils/binaries/adb")
    return (str(found),)


def test_from_connect_to_a_verified_tap_without_reading_anything(
    phone: subprocess.Popen[str], person: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    address = json.loads(phone.stdout.readline())["connect"]
    began, commands = time.monotonic(), 1
    talk = subprocess.Popen(
        ["handrail", "connect", "--json"],
        env=person.env,
        cwd=person.folder,
        stdout=subprocess.PIPE,
        text=True,
        executable=person.bin / "handrail",
    )
    with talk:
        assert talk.stdout is not None
        said = []
        for line in talk.stdout:
            said.append(json.loads(line))
            if (said[-1]["step"], said[-1]["state"]) == ("phone", "waiting"):
                person.run(*adb(person), "connect", address)  # the cable goes in
            if said[-1].get("phone_state") == "unauthorized":
                phone.send_signal(signal.SIGUSR1)  # a person accepts the key
    assert talk.returncode == 0, said
    look = next(one for one in said if one["step"] == "look")
    assert look["channel"] == "u2"
    commands += 1
    tapped = person.run("handrail", "tap", "Settings", "--expect", "Network & internet", "--json")
    took = time.monotonic() - began
    envelope = json.loads(tapped.stdout)
    assert envelope["success"], tapped.stdout
    assert envelope["lifecycle_state"] == "verified", envelope
    assert person.run("handrail", "press-key", "home").returncode == 0
    assert person.run(*said[-1]["tap"].split()).returncode == 0  # the line that connect gave
    after = person.run("handrail", "devices", "--json")
    [listed] = json.loads(after.stdout)["devices"]
    helper = person.run(*adb(person), "-s", listed["serial"], "shell", f"cat {PID}")
    assert re.fullmatch(r"\d+", helper.stdout.strip())
    with capsys.disabled():
        figures = f"{took:.1f} s, {commands} commands; a look by helper took {look['ms']} ms"
        sys.stdout.write(f"\nfrom connect to a verified tap: {figures}\n")
    assert took < MOST_S
    assert commands <= MOST_COMMANDS
