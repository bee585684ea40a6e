"""pure-python-adb: shell, push, pull, input, screencap, install."""

import os
from importlib.metadata import version

from ppadb.client import Client

client = Client("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
device = next(one for one in client.devices() if one.serial == os.environ["SERIAL"])
assert device.shell("echo hi") == "hi\n"
device.push(os.environ["APK"], "/data/local/tmp/l.apk")
device.pull("/data/local/tmp/l.apk", f"{os.environ['WORK']}/l.apk")
assert device.install(os.environ["APK"])
assert device.is_installed("org.example.lamp")
device.uninstall("org.example.lamp")
assert device.screencap()[:4] == b"\x89PNG"
assert tuple(device.wm_size()) == (1080, 2400)
assert device.get_battery_level() > 0
device.input_tap(10, 10)
device.input_keyevent("KEYCODE_HOME")
assert "com.android.launcher3" in [one.package for one in device.get_top_activities()]
print(f"client: pure-python-adb {version('pure-python-adb')}")
