"""adbutils: devices, shell, files, input, dump, install."""

import os
import sys

import adbutils

device = adbutils.adb.device(os.environ["SERIAL"])
assert device.get_state() == "device"
assert device.shell("echo hi") == "hi"
assert device.shell2("false").returncode == 1
device.sync.push(b"text", "/data/local/tmp/x.txt")
assert device.sync.read_bytes("/data/local/tmp/x.txt") == b"text"
assert any(one.path == "x.txt" for one in device.sync.list("/data/local/tmp"))
device.app_start("com.google.android.contacts")
assert device.app_current().package == "com.google.android.contacts"
assert "com.google.android.contacts" in device.dump_hierarchy()
assert device.screenshot().size == (1080, 2400)
assert tuple(device.window_size()) == (1080, 2400)
device.install(os.environ["APK"], silent=True)
assert "org.example.lamp" in device.list_packages()
assert device.package_info("org.example.lamp")["version_code"] == 1
device.uninstall("org.example.lamp")
device.click(540, 1200)
device.keyevent("HOME")
print(f"client: adbutils {adbutils.__version__}", file=sys.stdout)
