"""What a phone offers besides its shell: helpers that can be started, and faults that act by themselves.

Nothing is served until a client starts it, and nothing here is imported before that.
"""

from __future__ import annotations

from importlib import import_module

from handrail_sim.handset import Handset
from handrail_sim.shell.call import Call, Command

U2_MAIN = "com.wetest.uia2.Main"
MOBILECLI_MAIN = "com.mobilenext.mobilecli.DeviceServer"
OWN_MAIN = "dev.handrail.helper.Main"
TEMP = "/data/local/tmp"
HELPER_RUNNER = "com.agentest.helper.test/androidx.test.runner.AndroidJUnitRunner"
_SNAPSHOTS = "com.callstack.agentdevice.snapshothelper"
AGENT_DEVICE_RUNNER = f"{_SNAPSHOTS}/{_SNAPSHOTS}.SnapshotInstrumentation"
APPIUM_RUNNER = "io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner"


def attach(phone: Handset) -> None:
    phone.helper_mains[U2_MAIN] = _started_by("u2")
    phone.helper_mains[MOBILECLI_MAIN] = _started_by("mobilecli")
    phone.helper_mains[OWN_MAIN] = _started_by("own_helper")
    phone.instrumentations[HELPER_RUNNER] = _started_by("helper")
    phone.instrumentations[APPIUM_RUNNER] = _started_by("appium")
    phone.instrumentations[AGENT_DEVICE_RUNNER] = _started_by("agent_device")
    phone.faults.listeners.append(lambda name, on: _fault_changed(phone, name, on))


def _started_by(channel: str) -> Command:
    """Only phones whose helper is started pay for its import."""

    async def main(call: Call) -> int:
        status: int = await import_module(f"handrail_sim.channels.{channel}").main(call)
        return status

    return main


def _fault_changed(phone: Handset, name: str, on: bool) -> None:
    """A reboot happens once and is over; a folder stays closed for as long as the fault is on."""
    if name == "temp_read_only":
        phone.files.chmod(TEMP, 0o555 if on else 0o771)
    if name == "reboot" and on and phone.faults.get("reboot") is not None:
        phone.faults.clear("reboot")
        phone.reboot()
