"""What a phone offers besides its shell: helpers that can be started, and faults that act by themselves.

Nothing is served until a client starts it, and nothing here is imported before that.
"""

from __future__ import annotations

from handrail_sim.handset import Handset
from handrail_sim.shell.call import Call

U2_MAIN = "com.wetest.uia2.Main"
MOBILECLI_MAIN = "com.mobilenext.mobilecli.DeviceServer"
OWN_MAIN = "dev.handrail.helper.Main"
TEMP = "/data/local/tmp"
HELPER_RUNNER = "com.agentest.helper.test/androidx.test.runner.AndroidJUnitRunner"
_SNAPSHOTS = "com.callstack.agentdevice.snapshothelper"
AGENT_DEVICE_RUNNER = f"{_SNAPSHOTS}/{_SNAPSHOTS}.SnapshotInstrumentation"
APPIUM_RUNNER = "io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner"


def attach(phone: Handset) -> None:
    phone.helper_mains[U2_MAIN] = _u2
    phone.helper_mains[MOBILECLI_MAIN] = _mobilecli
    phone.helper_mains[OWN_MAIN] = _own_helper
    phone.instrumentations[HELPER_RUNNER] = _helper
    phone.instrumentations[APPIUM_RUNNER] = _appium
    phone.instrumentations[AGENT_DEVICE_RUNNER] = _agent_device
    phone.faults.listeners.append(lambda name, on: _fault_changed(phone, name, on))


async def _u2(call: Call) -> int:
    from handrail_sim.channels import u2  # noqa: PLC0415 - only phones whose helper is started pay for it

    return await u2.main(call)


async def _mobilecli(call: Call) -> int:
    from handrail_sim.channels import mobilecli  # noqa: PLC0415 - the same

    return await mobilecli.main(call)


async def _own_helper(call: Call) -> int:
    from handrail_sim.channels import own_helper  # noqa: PLC0415 - the same

    return await own_helper.main(call)


async def _helper(call: Call) -> int:
    from handrail_sim.channels import helper  # noqa: PLC0415 - the same

    return await helper.main(call)


async def _appium(call: Call) -> int:
    from handrail_sim.channels import appium  # noqa: PLC0415 - the same

    return await appium.main(call)


async def _agent_device(call: Call) -> int:
    from handrail_sim.channels import agent_device  # noqa: PLC0415 - the same

    return await agent_device.main(call)


def _fault_changed(phone: Handset, name: str, on: bool) -> None:
    """A reboot happens once and is over; a folder stays closed for as long as the fault is on."""
    if name == "temp_read_only":
        phone.files.chmod(TEMP, 0o555 if on else 0o771)
    if name == "reboot" and on and phone.faults.get("reboot") is not None:
        phone.faults.clear("reboot")
        phone.reboot()
