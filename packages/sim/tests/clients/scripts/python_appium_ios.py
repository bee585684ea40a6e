"""Appium's Python client through Appium's xcuitest driver to WebDriverAgent at DEVICE_URL.

Prints each command and how it ended, as JSON.
"""

import json
import os

from appium import webdriver
from appium.options.ios import XCUITestOptions
from appium.webdriver.common.appiumby import AppiumBy
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput

SETTINGS = "com.apple.Preferences"
options = XCUITestOptions().load_capabilities(
    {
        "platformName": "iOS",
        "appium:automationName": "XCUITest",
        "appium:udid": os.environ["UDID"],
        "appium:platformVersion": "17.5",
        "appium:deviceName": "iPhone",
        "appium:webDriverAgentUrl": os.environ["DEVICE_URL"],
    }
)
driver = webdriver.Remote(f"http://127.0.0.1:{os.environ['APPIUM_PORT']}", options=options)
driver.execute_script("mobile: launchApp", {"bundleId": SETTINGS})
ended = {}


def run(name, call, good=lambda answer: True):
    try:
        answer = call()
        ended[name] = "ok" if good(answer) else f"wrong: {answer!r}"[:200]
    except Exception as problem:
        ended[name] = f"{type(problem).__name__}: {problem}"[:200]


def find(label):
    return driver.find_element(AppiumBy.IOS_PREDICATE, f"label == '{label}'")


def script(name, /, **arguments):
    return lambda: driver.execute_script(f"mobile: {name}", arguments)


def tap_w3c():
    actions = ActionBuilder(driver, mouse=PointerInput("touch", "touch"))
    actions.pointer_action.move_to_location(195, 120).pointer_down().pause(0.1).pointer_up()
    actions.perform()


if os.environ.get("ONLY") == "keys":
    driver.terminate_app("com.handrail.notes")
    driver.execute_script("mobile: launchApp", {"bundleId": "com.handrail.notes"})
    find("New note").click()
    title = driver.find_element(AppiumBy.CLASS_NAME, "XCUIElementTypeTextField")
    title.click()
    run("keys", script("keys", keys=["a", {"key": "b", "modifierFlags": 2}]), lambda _: title.text == "aB")
    driver.quit()
    print("did: " + json.dumps(ended))
    raise SystemExit
run("source", lambda: driver.page_source, lambda xml: "XCUIElementTypeTable" in xml)
run("size", driver.get_window_size, lambda size: size == {"width": 390, "height": 844})
run("orient", lambda: driver.orientation, lambda word: word == "PORTRAIT")
run("shot", driver.get_screenshot_as_png, lambda png: png.startswith(b"\x89PNG"))
run("find", lambda: find("Connected devices"))
run("click", lambda: find("Connected devices").click())
run("tap", script("tap", x=30, y=70))
run("tapw3c", tap_w3c)
run("swipe", lambda: driver.swipe(100, 600, 100, 300, 400))
run("drag", script("dragFromToForDuration", duration=1, fromX=200, fromY=300, toX=200, toY=600))
run("hold", script("touchAndHold", x=200, y=70, duration=1))
run("home", script("pressButton", name="home"))
run("active", script("activeAppInfo"), lambda app: app["bundleId"] == "com.apple.springboard")
run("state", lambda: driver.query_app_state(SETTINGS), lambda state: state == 3)
run("activate", lambda: driver.activate_app(SETTINGS))
run("terminate", lambda: driver.terminate_app(SETTINGS), lambda ran: ran is True)
run("launch", script("launchApp", bundleId=SETTINGS))
run("listApps", script("listApps"))
run("launch gallery", script("launchApp", bundleId="com.apple.mobileslideshow"))
run("alerttext", lambda: driver.switch_to.alert.text, lambda text: "Photos" in text)
run("alert", script("alert", action="getButtons"), lambda names: names[-1] == "Don’t Allow")
run("alert accept", script("alert", action="accept", buttonLabel="Allow Full Access"))
run("launch notes", script("launchApp", bundleId="com.handrail.notes"))
run("new note", lambda: find("New note").click())
field = driver.find_element(AppiumBy.CLASS_NAME, "XCUIElementTypeTextField")
run("send_keys", lambda: field.send_keys("Appium was here"), lambda _: field.text == "Appium was here")
run("keys", script("keys", keys=["a"]))
run("launch again", script("launchApp", bundleId=SETTINGS))
run("search", lambda: find("Search settings").click())
run("hidekb", lambda: driver.hide_keyboard("Search"), lambda _: "TypeKeyboard" not in driver.page_source)
run("setclip", lambda: driver.set_clipboard_text("x"))
run("clip", driver.get_clipboard_text, lambda text: text == "x")
run("lock", driver.lock)
run("isLocked", driver.is_locked, lambda locked: locked is True)
run("unlock", driver.unlock)
run("deviceInfo", script("deviceInfo"))
run("battery", script("batteryInfo"))
run("screenInfo", script("deviceScreenInfo"), lambda screen: screen["scale"] == 3)
run("deeplink", script("deepLink", url="https://example.com", bundleId="com.apple.mobilesafari"))
run("appearance", script("setAppearance", style="dark"))
run("setloc", script("setSimulatedLocation", latitude=1, longitude=2))
run("install", lambda: driver.install_app("/tmp/none.ipa"))
run("syslog", lambda: driver.get_log("syslog"))
run("settings", lambda: driver.update_settings({"snapshotMaxDepth": 30}))
run("source json", script("source", format="json"), lambda tree: tree["type"] == "Application")
run("source desc", script("source", format="description"), lambda text: "Window" in text)
run("pinch", script("pinch", scale=0.5, velocity=-1))
run("contexts", lambda: driver.contexts)
driver.quit()
print("did: " + json.dumps(ended))
