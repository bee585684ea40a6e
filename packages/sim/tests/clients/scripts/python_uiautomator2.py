"""uiautomator2: connect, find, click, type, scroll, source, screenshot."""

import os
from importlib.metadata import version

import uiautomator2

d = uiautomator2.connect(os.environ["SERIAL"])
assert d.info["displayWidth"] == 1080
d.app_start("com.google.android.contacts")
assert d.app_current()["package"] == "com.google.android.contacts"
d(description="Create new contact").click()
d(className="android.widget.EditText").set_text("Uma Tester")
assert d(className="android.widget.EditText").get_text() == "Uma Tester"
d(text="Save").click()
assert "Uma Tester" in d.dump_hierarchy()
assert d.xpath("//*[@text='Uma Tester']").exists
d.app_start("com.android.settings", stop=True)
assert d(scrollable=True).scroll.to(text="About phone")
assert d.screenshot().size == (1080, 2400)
d.stop_uiautomator()
print(f"client: uiautomator2 {version('uiautomator2')}")
