"""AndroidWorld's own task evaluators against a simulated phone; nothing of AndroidWorld is in here.

    python sim/tests/clients/androidworld.py --world FOLDER --adb PATH [--only NAME …]

FOLDER is a clone of google-research/android_world with its protos compiled; run it by a Python that has
AndroidWorld's requirements. The phone is started from this repository. For each task: is it constructed, does
it initialise, does its evaluator run, are the apps it names on the phone, and, where a solution stands in
`SOLUTIONS`, did the evaluator say 1.0 after it and not before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HERE = Path(__file__).resolve()
SOURCES = HERE.parents[2] / "src"
STEP_S = 0.25  # AndroidWorld sleeps for whole seconds where an emulator needs them; the phone does not


def free_port() -> int:
    """An even port whose next one is free too, as emulators have them."""
    while True:
        port = random.SystemRandom().randrange(20000, 50000, 2)
        try:
            for one in (port, port + 1, port + 3000):
                socket.create_server(("127.0.0.1", one)).close()
        except OSError:
            continue
        return port


class Phone:
    """A phone of its own process, an adb server of its own port, and hands."""

    def __init__(self, adb: str) -> None:
        self.adb, self.console, self.server = adb, free_port(), free_port()
        self.serial = f"emulator-{self.console}"
        env = {**os.environ, "PYTHONPATH": str(SOURCES)}
        python = os.environ.get("SIM_PYTHON", sys.executable)
        words = [python, "-m", "handrail_sim", "--emulator", "--port", str(self.console + 1), *EXTRA]
        self.process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()
        subprocess.run([adb, "-P", str(self.server), "start-server"], check=True, capture_output=True)
        self.announce()
        self.install_clipper()

    def install_clipper(self) -> None:
        """The benchmark's way to the clipboard is a public app; an APK with its name is enough here."""
        sys.path.insert(0, str(HERE.parents[2]))
        from tests.apks import launcher_apk  # noqa: PLC0415 - the tests' own maker of APKs

        with tempfile.NamedTemporaryFile(suffix=".apk") as file:
            file.write(launcher_apk("ca.zgrs.clipper", "Clipper", ".Main"))
            file.flush()
            self.run("install", file.name)

    def announce(self) -> None:
        """What an emulator tells the adb server when it has come up, whatever its port is."""
        with socket.create_connection(("127.0.0.1", self.server)) as wire:
            text = f"host:emulator:{self.console + 1}".encode()
            wire.sendall(b"%04x" % len(text) + text)
        for _ in range(60):
            if self.run("get-state").strip() == "device":
                return
            REAL_SLEEP(0.1)
        raise RuntimeError("adb does not see the phone")

    def run(self, *words: str) -> str:
        command = [self.adb, "-P", str(self.server), "-s", self.serial, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def shell(self, text: str) -> str:
        return self.run("shell", text)

    # hands

    def nodes(self) -> list[dict[str, str]]:
        text = self.shell("uiautomator dump /sdcard/w.xml >/dev/null; cat /sdcard/w.xml; rm /sdcard/w.xml")
        tree = ElementTree.fromstring(text[text.find("<?xml") :])
        return [dict(node.attrib) for node in tree.iter("node")]

    def find(self, words: str, wait: bool = True) -> dict[str, str] | None:
        for _ in range(8 if wait else 1):
            for node in self.nodes():
                named = {node["text"], node["content-desc"], node["resource-id"].rpartition("/")[2]}
                if words in named:
                    return node
            REAL_SLEEP(0.2)
        return None

    def tap(self, words: str, hold: bool = False) -> None:
        node = self.find(words)
        if node is None:
            shown = [one["text"] or one["content-desc"] for one in self.nodes()]
            raise LookupError(f"nothing says {words!r} among {[one for one in shown if one]}")
        left, top, right, bottom = (int(one) for one in re.findall(r"\d+", node["bounds"]))
        x, y = (left + right) // 2, (top + bottom) // 2
        self.shell(f"input swipe {x} {y} {x} {y} 900" if hold else f"input tap {x} {y}")
        REAL_SLEEP(0.3)

    def reach(self, words: str) -> None:
        """Scroll down to it."""
        for _ in range(12):
            if self.find(words, wait=False):
                return
            self.shell("input swipe 540 1700 540 900 400")
            REAL_SLEEP(0.4)

    def type(self, words: str, into: str = "") -> None:
        if into:
            self.tap(into)
        self.shell("input text '" + words.replace("'", "'\\''").replace(" ", "%s") + "'")

    def key(self, name: str) -> None:
        self.shell(f"input keyevent {name}")

    def open(self, component: str) -> None:
        self.shell(f"am start -n {component}")
        REAL_SLEEP(0.5)

    def stop(self) -> None:
        subprocess.run([self.adb, "-P", str(self.server), "kill-server"], check=False)
        self.process.terminate()
        self.process.wait()


REAL_SLEEP = time.sleep
EXTRA = ["--userdebug"]


def environment(phone: Phone) -> Any:
    """AndroidWorld's environment over its own adb controller; the tree comes by `uiautomator dump`."""
    import dm_env  # noqa: PLC0415 - only where AndroidWorld's requirements are
    import numpy as np  # noqa: PLC0415
    from android_env.components import (  # noqa: PLC0415
        adb_call_parser,
        adb_controller,
        config_classes,
    )
    from android_world.env import android_world_controller, interface  # noqa: PLC0415

    class Controller(adb_controller.AdbController):  # type: ignore[misc]
        def _restart_server(self, timeout: float | None = None) -> None:
            """A failed command is no reason: the phone would have to be announced again."""

    config = config_classes.AdbControllerConfig(
        adb_path=phone.adb, adb_server_port=phone.server, device_name=phone.serial, default_timeout=30.0
    )
    parser = adb_call_parser.AdbCallParser(Controller(config))

    class Device:
        def execute_adb_call(self, request: Any) -> Any:
            return parser.parse(request)

        def step(self, _action: Any) -> Any:
            return dm_env.restart({"pixels": np.zeros((2400, 1080, 3), np.uint8)})

        def reset(self) -> Any:
            return self.step(None)

    class Forest(android_world_controller.AndroidWorldController):  # type: ignore[misc]
        def _process_timestep(self, timestep: Any) -> Any:
            """AndroidEnv's forwarder app gives trees with hints; a dump has everything but those."""
            timestep = super()._process_timestep(timestep)
            timestep.observation["forest"] = forest(phone)
            return timestep

    method = android_world_controller.A11yMethod.UIAUTOMATOR
    return interface.AsyncAndroidEnv(Forest(Device(), method))


def forest(phone: Phone) -> Any:
    from android_env.proto.a11y import android_accessibility_forest_pb2  # noqa: PLC0415

    made = android_accessibility_forest_pb2.AndroidAccessibilityForest()
    window = made.windows.add()
    for node in phone.nodes():
        one = window.tree.nodes.add(
            text=node["text"], content_description=node["content-desc"], class_name=node["class"]
        )
        sides = (int(side) for side in re.findall(r"-?\d+", node["bounds"]))
        box = one.bounds_in_screen
        box.left, box.top, box.right, box.bottom = sides
        one.is_visible_to_user = True
    return made


CONTACTS = "com.google.android.contacts/com.android.contacts.activities.PeopleActivity"
CLOCK = "com.google.android.deskclock/com.android.deskclock.DeskClock"
CAMERA = "com.android.camera2/com.android.camera.CameraLauncher"
FILES = "com.google.android.documentsui/com.android.documentsui.files.FilesActivity"
MESSAGES = "com.google.android.apps.messaging/com.google.android.apps.messaging.ui.ConversationListActivity"
Solve = Callable[[Phone, dict[str, Any]], None]


def flip(page: str, words: str) -> Solve:
    """A page of the settings, and the switch that stands on it."""

    def solve(phone: Phone, _: dict[str, Any]) -> None:
        phone.shell(f"am start -a {page}")
        phone.tap(words)

    return solve


def nothing(_: Phone, __: dict[str, Any]) -> None:
    """The phone is as the task wants it; a person only looks."""


def brightness(share: float) -> Solve:
    def solve(phone: Phone, _: dict[str, Any]) -> None:
        phone.shell("am start -a android.settings.DISPLAY_SETTINGS")
        phone.tap("Brightness level")
        node = next(one for one in phone.nodes() if one["class"].endswith("SeekBar"))
        left, top, right, bottom = (int(one) for one in re.findall(r"\d+", node["bounds"]))
        x, y = left + (right - left) * share, (top + bottom) // 2
        phone.shell(f"input swipe {(left + right) // 2} {y} {int(x)} {y} 600")

    return solve


def take_photo(phone: Phone, _: dict[str, Any]) -> None:
    phone.open(CAMERA)
    phone.tap("Shutter")


def take_video(phone: Phone, _: dict[str, Any]) -> None:
    phone.open(CAMERA)
    phone.tap("Video")
    phone.tap("Shutter")
    REAL_SLEEP(1.2)
    phone.tap("Stop recording")


def run_stopwatch(phone: Phone, _: dict[str, Any]) -> None:
    phone.open(CLOCK)
    phone.tap("Stopwatch")
    phone.tap("Start")


def show_stopwatch(phone: Phone, _: dict[str, Any]) -> None:
    phone.open(CLOCK)
    phone.tap("Stopwatch")


def enter_timer(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(CLOCK)
    phone.tap("Timer")
    for digit in f"{given['hours']:02d}{given['minutes']:02d}{given['seconds']:02d}".lstrip("0"):
        phone.tap(digit)


def add_contact(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(CONTACTS)
    phone.tap("Create new contact")
    first, _, last = str(given["name"]).partition(" ")
    phone.type(first, "first")
    phone.type(last, "last")
    phone.key("BACK")
    phone.type(str(given["number"]), "phone")
    phone.tap("Save")


def delete_file(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(FILES)
    phone.tap(given["subfolder"])
    phone.reach(given["file_name"])
    phone.tap(given["file_name"], hold=True)
    phone.tap("Delete")
    phone.tap("OK")


def move_file(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(FILES)
    phone.tap(given["source_folder"])
    phone.reach(given["file_name"])
    phone.tap(given["file_name"], hold=True)
    phone.tap("More options")
    phone.tap("Move to…")
    phone.key("BACK")
    phone.tap(given["destination_folder"])
    phone.tap("Move")


def open_app(phone: Phone, given: dict[str, Any]) -> None:
    phone.key("HOME")
    phone.tap("Apps list")
    labels = {"dialer": "Phone"}
    phone.reach(labels.get(given["app_name"], given["app_name"].capitalize()))
    phone.tap(labels.get(given["app_name"], given["app_name"].capitalize()))


def wifi_then_app(phone: Phone, given: dict[str, Any]) -> None:
    flip("android.settings.WIFI_SETTINGS", "Wi\u2011Fi")(phone, given)
    open_app(phone, given)


def wifi_off_bluetooth_on(phone: Phone, given: dict[str, Any]) -> None:
    flip("android.settings.WIFI_SETTINGS", "Wi\u2011Fi")(phone, given)
    flip("android.settings.BLUETOOTH_SETTINGS", "Use Bluetooth")(phone, given)


def resend(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(MESSAGES)
    phone.tap(given["name"])
    phone.type(given["message"], "compose_message_text")
    phone.tap("Send SMS")


def copy_text(phone: Phone, given: dict[str, Any]) -> None:
    phone.open(CONTACTS)
    phone.tap("Create new contact")
    phone.type(given["clipboard_content"], "first")
    phone.shell("input keycombination CTRL_LEFT A; input keycombination CTRL_LEFT C")


_WIFI = flip("android.settings.WIFI_SETTINGS", "Wi\u2011Fi")
_BLUETOOTH = flip("android.settings.BLUETOOTH_SETTINGS", "Use Bluetooth")
SOLUTIONS: dict[str, Solve] = {
    "CameraTakePhoto": take_photo,
    "CameraTakeVideo": take_video,
    "ClockStopWatchPausedVerify": show_stopwatch,
    "ClockStopWatchRunning": run_stopwatch,
    "ClockTimerEntry": enter_timer,
    "ContactsAddContact": add_contact,
    "FilesDeleteFile": delete_file,
    "FilesMoveFile": move_file,
    "OpenAppTaskEval": open_app,
    "SimpleSmsResend": resend,
    "SystemBluetoothTurnOff": _BLUETOOTH,
    "SystemBluetoothTurnOffVerify": nothing,
    "SystemBluetoothTurnOn": _BLUETOOTH,
    "SystemBluetoothTurnOnVerify": nothing,
    "SystemCopyToClipboard": copy_text,
    "SystemBrightnessMax": brightness(1.0),
    "SystemBrightnessMaxVerify": nothing,
    "SystemBrightnessMin": brightness(0.0),
    "SystemBrightnessMinVerify": nothing,
    "SystemWifiTurnOff": _WIFI,
    "SystemWifiTurnOffVerify": nothing,
    "SystemWifiTurnOn": _WIFI,
    "SystemWifiTurnOnVerify": nothing,
    "TurnOffWifiAndTurnOnBluetooth": wifi_off_bluetooth_on,
    "TurnOnWifiAndOpenApp": wifi_then_app,
}


def try_task(name: str, cls: Any, phone: Phone, env: Any) -> dict[str, Any]:
    """What happened to one task."""
    random.seed(30)
    row: dict[str, Any] = {"name": name, "constructed": False, "initialised": False, "evaluated": False}
    try:
        params = cls.generate_random_params()
        params["seed"] = 30
        task = cls(params)
        row["constructed"], row["apps"] = True, list(task.app_names)
        task.initialize_task(env)
        row["initialised"] = True
        row["before"] = task.is_successful(env)
        row["evaluated"] = True
        if name in SOLUTIONS:
            SOLUTIONS[name](phone, task.params)
            row["after"] = task.is_successful(env)
        task.tear_down(env)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
    return row


def missing_apps(phone: Phone, names: list[str]) -> list[str]:
    from android_world.env import adb_utils  # noqa: PLC0415

    installed = set(phone.shell("pm list packages").replace("package:", "").split())
    missing = []
    for name in names:
        component = adb_utils.get_adb_activity(name) if name else None
        if name and (component is None or adb_utils.extract_package_name(component) not in installed):
            missing.append(name)
    return missing


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--world", type=Path, required=True)
    arguments.add_argument("--adb", required=True)
    arguments.add_argument("--only", nargs="*")
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    sys.path.insert(0, str(given.world))
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["HOME"] = tempfile.mkdtemp()
    (Path(os.environ["HOME"]) / ".emulator_console_auth_token").write_text("")
    from absl import logging  # noqa: PLC0415
    from android_world import registry  # noqa: PLC0415

    logging.set_verbosity(logging.FATAL)
    time.sleep = lambda seconds: REAL_SLEEP(min(seconds, STEP_S))
    tasks = registry.TaskRegistry().get_registry("android_world")
    phone = Phone(given.adb)
    rows = []
    try:
        env = environment(phone)
        for name in given.only or sorted(tasks):
            rows.append(row := try_task(name, tasks[name], phone, env))
            row["missing"] = missing_apps(phone, row.get("apps", []))
            print(json.dumps(row), flush=True)
    finally:
        phone.stop()
    print(summary(rows))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


def summary(rows: list[dict[str, Any]]) -> str:
    doable = [row for row in rows if row["evaluated"] and not row["missing"]]
    tried = [row for row in rows if "after" in row or ("error" in row and row["name"] in SOLUTIONS)]
    solved = [row for row in tried if row.get("after") == 1.0]
    return (
        f"{sum(row['constructed'] for row in rows)} constructed, {sum(row['initialised'] for row in rows)} "
        f"initialise, {sum(row['evaluated'] for row in rows)} evaluators run, {len(doable)} doable, "
        f"{len(solved)} of {len(tried)} tried solved"
    )


if __name__ == "__main__":
    main()
