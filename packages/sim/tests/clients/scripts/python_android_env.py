"""android-env: its ADB controller and parser, as its environments use them."""

import os
from importlib.metadata import version

from android_env.components import adb_call_parser, adb_controller, config_classes
from android_env.proto import adb_pb2

controller = adb_controller.AdbController(
    config_classes.AdbControllerConfig(
        adb_path=os.environ["ADB"],
        adb_server_port=int(os.environ["ANDROID_ADB_SERVER_PORT"]),
        device_name=os.environ["SERIAL"],
    )
)
parser = adb_call_parser.AdbCallParser(controller)


def ask(**request: object) -> adb_pb2.AdbResponse:
    answer = parser.parse(adb_pb2.AdbRequest(**request))
    assert answer.status == adb_pb2.AdbResponse.Status.OK, (request, answer.error_message)
    return answer


Request = adb_pb2.AdbRequest
packages = ask(
    package_manager=Request.PackageManagerRequest(
        list=Request.PackageManagerRequest.List(packages=Request.PackageManagerRequest.List.Packages())
    )
).package_manager.list.items
assert "com.google.android.contacts" in packages
ask(
    start_activity=Request.StartActivity(
        full_activity="com.google.android.contacts/com.android.contacts.activities.PeopleActivity"
    )
)
activity = ask(get_current_activity=Request.GetCurrentActivity()).get_current_activity.full_activity
assert activity.startswith("com.google.android.contacts/"), activity
ask(tap=Request.Tap(x=965, y=2159))
ask(press_button=Request.PressButton(button=Request.PressButton.Button.HOME))
ask(input_text=Request.InputText(text="hello"))
ask(
    settings=Request.SettingsRequest(
        name_space=Request.SettingsRequest.Namespace.SYSTEM,
        put=Request.SettingsRequest.Put(key="screen_brightness", value="77"),
    )
)
got = ask(
    settings=Request.SettingsRequest(
        name_space=Request.SettingsRequest.Namespace.SYSTEM,
        get=Request.SettingsRequest.Get(key="screen_brightness"),
    )
).settings.output
assert got.strip() == b"77"
dump = ask(dumpsys=Request.DumpsysRequest(service="window")).dumpsys.output
assert b"mCurrentFocus" in dump
ask(install_apk=Request.InstallApk(filesystem=Request.InstallApk.Filesystem(path=os.environ["APK"])))
ask(uninstall_package=Request.UninstallPackage(package_name="org.example.lamp"))
ask(push=Request.Push(content=b"bytes", path="/data/local/tmp/p"))
assert ask(pull=Request.Pull(path="/data/local/tmp/p")).pull.content == b"bytes"
dims = ask(get_orientation=Request.GetOrientationRequest()).get_orientation.orientation
assert dims == 0
ask(force_stop=Request.ForceStop(package_name="com.google.android.contacts"))
print(f"client: android-env {version('android-env')}")
