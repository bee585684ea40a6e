"""The real uiautomator2 package against a phone in another process, through a private adb server."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.adb_tools.conftest import Adb

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    adbutils = pytest.importorskip("adbutils", reason="pip install adbutils")
    u2 = pytest.importorskip("uiautomator2", reason="pip install uiautomator2")

pytestmark = pytest.mark.filterwarnings("ignore")

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
NOTES = "com.handrail.notes"


@pytest.fixture(scope="module")
def device(adb: Adb) -> Iterator[Any]:
    """`u2.connect` through the adb server of this test run."""
    found = u2.connect(adbutils.AdbClient(port=adb.server_port).device(adb.serial))
    yield found
    found.stop_uiautomator(wait=False)
    del found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # the client leaves sockets to the collector


def test_connect_pushes_the_jar_and_knows_the_phone(device: Any) -> None:
    info = device.info
    assert info["displayWidth"] == 1080
    assert info["sdkInt"] == 34
    assert device.window_size() == (1080, 2400)
    assert device.device_info["sdk"] == 34
    assert "u2.jar" in device.shell("ls /data/local/tmp").output


def test_the_hierarchy_is_well_formed_and_of_the_app_in_front(device: Any) -> None:
    device.app_start(CONTACTS, stop=True)
    assert device.app_wait(CONTACTS, front=True, timeout=60) > 0
    root = ElementTree.fromstring(device.dump_hierarchy().encode())
    assert root.tag == "hierarchy"
    assert CONTACTS in {window.attrib["package"] for window in root}


def test_a_person_is_added_by_text_and_description(device: Any) -> None:
    device.app_start(CONTACTS, stop=True)
    device(description="Create new contact").click()
    field = device(className="android.widget.EditText", instance=0)
    assert field.wait(timeout=60)
    named = device(resourceId=field.info["resourceName"])
    named.set_text("Grete Sample")
    assert named.get_text() == "Grete Sample"
    device.xpath('//*[@text="Save" or @content-desc="Save"]').click()
    assert device(text="Grete Sample").wait(timeout=60)


def test_a_missing_element_is_the_clients_own_exception(device: Any) -> None:
    with pytest.raises(u2.UiObjectNotFoundError):
        device(text="nowhere at all").click(timeout=0.2)
    assert not device(text="nowhere at all").exists
    with pytest.raises(u2.UiObjectNotFoundError):
        _ = device(text="nowhere at all").info


def test_swipes_scroll_and_selectors_find(device: Any) -> None:
    device.app_start(SETTINGS, stop=True)
    device(scrollable=True).wait(timeout=60)
    before = device.dump_hierarchy()
    device.swipe(540, 1800, 540, 700, 0.3)
    assert device.dump_hierarchy() != before
    assert device(scrollable=True).scroll.to(text="About phone")
    device(text="About phone").click()
    assert device(textContains="Android").wait(timeout=60)
    device.press("back")


def test_screenshots_are_pictures_of_the_right_size(device: Any) -> None:
    picture = device.screenshot()
    assert picture.size == (1080, 2400)
    assert len(picture.convert("L").getcolors(1 << 16) or []) > 3


def test_apps_start_and_stop(device: Any) -> None:
    device.app_start(NOTES)
    assert device.app_current()["package"] == NOTES
    assert NOTES in device.app_list_running()
    assert device.app_info(NOTES)["versionName"]
    device.app_stop(NOTES)
    assert NOTES not in device.app_list_running()
    assert device.app_current()["package"] != NOTES
    assert SETTINGS in device.app_list()


def test_keys_clipboard_toast_and_rotation(device: Any) -> None:
    device.set_clipboard("carried over")
    assert device.clipboard == "carried over"
    device.press("home")
    assert device.app_current()["package"] == "com.android.launcher3"
    device.shell("sim toast hello")  # toasts queue: one of an earlier test may still be up
    assert any(device.last_toast == "hello" for _ in range(200))
    device.set_orientation("left")
    assert device.window_size() == (2400, 1080)
    device.set_orientation("natural")
    assert device.window_size() == (1080, 2400)


def test_typing_goes_through_the_clipboard(device: Any) -> None:
    device.app_start(CONTACTS, stop=True)
    device(description="Create new contact").click()
    device(className="android.widget.EditText").click()
    device.send_keys("typed by u2")
    assert device(text="typed by u2").exists
    device.clear_text()
    assert not device(text="typed by u2").exists


@pytest.mark.slow
def test_a_session_of_a_hundred_steps(device: Any) -> None:
    """Open, look, scroll, go back, again and again; every step is checked on what is there."""
    steps = 0
    session = device.session(SETTINGS)
    while steps < 100:
        session(text="Display").click()
        assert session(textContains="rightness").wait(timeout=60)
        assert session.app_current()["package"] == SETTINGS
        session.press("back")
        assert session(text="Display").wait(timeout=60)
        windows = ElementTree.fromstring(session.dump_hierarchy().encode())  # their order means nothing
        assert SETTINGS in {window.attrib["package"] for window in windows}
        steps += 6
    assert session.running()


def test_a_helper_that_died_is_started_again_by_the_client(device: Any) -> None:
    """The call that killed it fails; the next one finds nobody at the port and starts the server anew."""
    device.shell("sim fault add helper_dies times=1")
    with pytest.raises(ConnectionError):
        _ = device.info
    assert device.info["displayWidth"] == 1080
    device.shell("sim fault clear")
