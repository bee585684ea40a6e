"""What the adb server's FAIL texts mean, as errors. Pure."""

from __future__ import annotations

from handrail.adb.link import ACCEPT_HINT
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline


def refusal(text: str, request: str, serial: str) -> DeviceError:
    """The server said FAIL: nothing of the request has run on a device."""
    said = " ".join(text.split())
    name = serial or "the adb server"
    if "unauthorized" in said or "authorizing" in said or "failed to authenticate" in said:
        why = f"{name} has not authorised this host: {said}"
        return DeviceOffline(why, hint=ACCEPT_HINT, state="unauthorized", delivery="not_delivered")
    if "permissions" in said:
        why = f"{name} can't be opened by the adb server: {said}"
        hint = "Give your user access to the USB device (udev rules, the plugdev group), then reconnect it."
        return DeviceOffline(why, hint=hint, state="no permissions", delivery="not_delivered")
    if "offline" in said or "still connecting" in said:
        return DeviceOffline(f"{name} is offline: {said}", state="offline", delivery="not_delivered")
    if "not found" in said or "no devices" in said or "more than one" in said:
        return AdbConnectionError(f"{name}: {said}", delivery="not_delivered")
    return AdbCommandError(
        f"{name} refused {request[:80]!r}: {said}",
        hint="`closed` means that nothing on the phone serves it."
        if said == "closed"
        else "Read the text after the colon.",
        command=request[:80],
        delivery="not_delivered",
    )
