"""adb-shell: straight to the phone's port, without an adb server."""

import os
from importlib.metadata import version

from adb_shell.adb_device import AdbDeviceTcp

host, _, port = os.environ["SERIAL"].rpartition(":")
device = AdbDeviceTcp(host, int(port), default_transport_timeout_s=9)
assert device.connect(auth_timeout_s=1)
assert device.shell("echo hi") == "hi\n"
device.push(os.environ["APK"], "/data/local/tmp/l.apk")
assert device.stat("/data/local/tmp/l.apk")[1] == os.path.getsize(os.environ["APK"])
device.pull("/data/local/tmp/l.apk", f"{os.environ['WORK']}/m.apk")
assert "Success" in device.shell("pm install -r /data/local/tmp/l.apk")
assert any(one.filename == b"l.apk" for one in device.list("/data/local/tmp"))
assert "".join(device.streaming_shell("ls /sdcard")).count("\n") > 3
device.shell("pm uninstall org.example.lamp")
device.close()
print(f"client: adb-shell {version('adb-shell')}")
