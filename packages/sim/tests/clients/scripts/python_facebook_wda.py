"""Every call of facebook-wda's client, on DEVICE_URL; prints each that did what it says."""

import json
import os
import time

import wda

client = wda.Client(os.environ["DEVICE_URL"])
SETTINGS, NOTES = "com.apple.Preferences", "com.handrail.notes"
calls = []


def did(name, good):
    assert good, name
    calls.append(name)


# without a session
did("is_ready", client.is_ready())
did("wait_ready", client.wait_ready(timeout=5, noprint=True))
did("status", client.status()["state"] == "success")
did("source xml", client.source().startswith("<?xml"))
did("source json", client.source(format="json")["type"] == "Application")
did("source accessible", client.source(accessible=True)["children"])
did("screenshot", client.screenshot().size == (1170, 2532))
did("screenshot raw", client.screenshot(format="raw").startswith(b"\x89PNG"))
did("locked", client.locked() is False)
did("lock", client.lock() is not None and client.locked())
did("unlock", client.unlock() is not None and not client.locked())
did("healthcheck", client.healthcheck()["value"] is None)
client.home()
did("home and app_current", client.app_current()["bundleId"] == "com.apple.springboard")

# a session
app = client.session(SETTINGS)
did("session", app.session_id and client.app_current()["bundleId"] == SETTINGS)
did("scale", app.scale == 3)
did("bundle_id", app.bundle_id is None)  # 16.7 says no more than the device and its version
app.implicitly_wait(5)
did("window_size", tuple(app.window_size()) == (390, 844))
did("orientation", app.orientation == wda.PORTRAIT)
app.orientation = wda.LANDSCAPE
did("orientation=", app.orientation == wda.LANDSCAPE and tuple(app.window_size()) == (844, 390))
app.orientation = wda.PORTRAIT
did("battery_info", 0 < app.battery_info()["level"] <= 1)
did("device_info", app.device_info()["model"] == app.info["model"] == "iPhone")
settings = app.appium_settings()
did("appium_settings", app.appium_settings({"waitForIdleTimeout": 1})["waitForIdleTimeout"] == 1 and settings)

# gestures
rows = [row.bounds.y for row in app(className="Cell").find_elements()[:2]]
app.swipe_up()
time.sleep(0.5)
did("swipe_up", not app(label="Network & internet").exists)
app.swipe_down()
app.swipe(200, 300, 200, 700)
did("swipe", app(label="Network & internet").get(timeout=2).displayed)
app.swipe_left()
app.swipe_right()
did("swipe_left and right", True)
bounds = app(label="Network & internet", className="StaticText").get(timeout=5).bounds
app.tap(*map(int, bounds.center))
did("tap", app(label="Airplane mode").exists)
app(className="NavigationBar").child(className="Button").get(timeout=2).click()
did("Selector.child and Element.click", app(label="Connected devices").wait(timeout=5) is not None)
app.click(0.5, 0.05)
app.click(200, 20, 0.2)
app.double_tap(200, 20)
app.tap_hold(200, 20, 0.3)
did("click, double_tap, tap_hold", True)

# apps
app.app_launch(NOTES)
did("app_launch", app.app_current()["bundleId"] == NOTES and app.app_state(NOTES)["value"] == 4)
app.app_activate(SETTINGS)
did("app_activate", app.app_state(NOTES)["value"] == 3)
did("app_list", {"pid", "bundleId"} == set(app.app_list()[0]))
app.app_start(NOTES)
did("app_start", app.app_current()["bundleId"] == NOTES)
app.app_stop(SETTINGS)
did("app_stop", app.app_state(SETTINGS)["value"] == 1)
app.app_terminate(NOTES)
did("app_terminate", app.app_state(NOTES)["value"] == 1)
app.app_launch(SETTINGS)
app.deactivate(0.1)
did("deactivate", app.app_current()["bundleId"] == SETTINGS)
app.close()
app = client.session(NOTES, alert_action=None)

# elements
app(label="New note").click(timeout=5)
field = app(className="TextField").get(timeout=5)
field.set_text("From facebook-wda")
did("Element.set_text", field.value == "From facebook-wda" == field.text)
field.clear_text()
did("Element.clear_text", field.value == "Title")
field.click()
app.send_keys("Typed\n")
did("send_keys", field.value == "Typed")
did("Element.info", field.info["className"] == "XCUIElementTypeTextField" and field.className == field.name)
did("Element flags", field.enabled and field.displayed and field.visible and field.accessible)
did("Element.label", field.label is not None and field.accessibility_container is False)
did("Element.selected", field.selected() is False)
did("Element.bounds", field.bounds.width > 100)
field.tap()
field.tap_hold(0.2)
did("Element.tap, tap_hold", True)
selector = app(className="TextField")
did("Selector.exists and count", selector.exists and selector.count() == 1)
did("find_elements", len(selector.find_elements()) == len(selector.find_element_ids()) == 1)
did("xpath", app.xpath("//TextField").exists)
did("predicate", app(predicate="type == 'XCUIElementTypeTextField' AND value == 'Typed'").exists)
did("class chain", app(classChain="**/XCUIElementTypeTextField").exists)
did("nameContains", app(labelContains="nothing at all").click_exists(timeout=0.5) is False)
did("wait_gone", app(label="nothing at all").wait_gone(timeout=1))
selector.set_timeout(3)
did("wait", app(className="TextField").wait(timeout=2) is not None)
app.close()

app = client.session(SETTINGS)
last = app(className="Cell").find_elements()[-1]
app(className="Table").get(timeout=3).scroll("down", 0.5)
app(className="Table").get(timeout=3).scroll("up", 1.0)
did("Element.scroll", app(label="Network & internet").get().displayed)
app(className="Table").get(timeout=3).pinch(1.5, 1)
did("Element.pinch", True)
app.open_url("https://example.com")
did("open_url", client.app_current()["bundleId"] == "com.apple.mobilesafari")
app.set_clipboard("pasted")
did("clipboard", app.get_clipboard() == "pasted")
app.siri_activate("hello")
app.press("home")
did("press", client.app_current()["bundleId"] == "com.apple.springboard")
app.press("volumeUp")
app.press_duration("volumeDown", 0.1)
app.press_duration("power", 0.1)
did("press_duration", app.locked())
app.unlock()
app.close()

# alerts
app = client.session("com.apple.mobileslideshow")
did("alert.wait", app.alert.wait(timeout=3) and app.alert.exists)
did("alert.text", "Photos" in app.alert.text)
did("alert.buttons", app.alert.buttons()[-1] == "Don’t Allow")
did("alert.click_exists", app.alert.click_exists(["None of these"]) is None)
did("alert.click", app.alert.click(["Allow Full Access"]) == "Allow Full Access")
app.close()
with client.session(SETTINGS) as app, app.alert.watch_and_click(["OK"], interval=0.1):
    did("watch_and_click", not app.alert.exists)
heard = []


def remember(urlpath):
    heard.append(urlpath)


client.register_callback(wda.Callback.HTTP_REQUEST_BEFORE, remember)
client.status()
client.unregister_callback()
did("callbacks", heard == ["/status"])
print("did: " + json.dumps(calls))
