"""Airtest: connect with ADBCAP and ADBTOUCH, touch, swipe, text, snapshot, apps."""

import logging
import os
from importlib.metadata import version

logging.getLogger("airtest").setLevel(logging.WARNING)

from airtest.core.android.android import Android  # noqa: E402

device = Android(
    serialno=os.environ["SERIAL"],
    host=("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"])),
    cap_method="ADBCAP",
    touch_method="ADBTOUCH",
    ime_method="ADBIME",
    ori_method="ADBORI",
)
assert device.get_current_resolution() == (1080, 2400)
picture = device.snapshot()
assert picture.shape == (2400, 1080, 3)
device.stop_app("com.google.android.contacts")
device.start_app("com.google.android.contacts")
assert device.get_top_activity()[0] == "com.google.android.contacts"
device.touch((965, 2159))
device.shell("input tap 540 500")
device.text("Aria", enter=False)
assert "Aria" in device.shell("uiautomator dump /dev/tty")
device.keyevent("BACK")
device.swipe((540, 1800), (540, 600), duration=0.3)
assert device.check_app("com.google.android.contacts")
device.install_app(os.environ["APK"])
assert "org.example.lamp" in device.list_app()
device.uninstall_app("org.example.lamp")
device.stop_app("com.google.android.contacts")
assert device.display_info["width"] == 1080
print(f"client: airtest {version('airtest')}")
