"""What happens to a phone from outside: a call, a message, a finger on the sensor, another network or place.

The words of `sim …`, of the emulator's console and of Python are all these.
"""

from __future__ import annotations

from handrail_sim.errors import BadSetting
from handrail_sim.system import surroundings, telephony
from handrail_sim.system.activities import Context
from handrail_sim.system.surroundings import Place

SMS_APP = "com.google.android.apps.messaging"


def receive_sms(phone: Context, sender: str, text: str) -> None:
    """The SMS app stores it and says so, or the phone itself does."""
    phone.catch_up()
    app = phone.app(SMS_APP)
    if app is None:
        phone.notify("com.android.phone", sender, text)
    else:
        app.on_sms(sender, text)
        phone.touched_app()


def receive_call(phone: Context, number: str) -> None:
    """Somebody rings."""
    if not telephony.is_number(number):
        raise BadSetting(f"{number!r} is no number that can call", path="number")
    if not telephony.ring(phone, number):
        raise BadSetting("there is a call already", path="number")


def set_network(phone: Context, *, speed: str | None, delay: str | None, gone: bool | None) -> None:
    """Speed and delay as the emulator's console names them; `gone`: nothing comes through."""
    if not surroundings.set_network(phone, speed=speed, delay=delay):
        known = ", ".join([*surroundings.SPEEDS] if delay is None else [*surroundings.DELAYS])
        raise BadSetting(f"{speed or delay!r} is neither a number nor one of {known}", path="network")
    if gone is not None:
        surroundings.set_gone(phone, gone)
    phone.bars_changed()
    phone.touched_app()


def set_location(phone: Context, latitude: float, longitude: float, altitude: float) -> None:
    """What the satellites say."""
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise BadSetting(f"{latitude}, {longitude} is no place on Earth", path="location")
    surroundings.set_place(phone, Place(latitude, longitude, altitude))
    phone.touched_app()


def set_battery(phone: Context, level: int | None, plug: str | None) -> None:
    """Per cent, and what charges it: none, ac, usb or wireless."""
    if level is not None and not 0 <= level <= 100:
        raise BadSetting(f"{level} is no level between 0 and 100", path="battery")
    if plug is not None and plug not in surroundings.PLUGS:
        raise BadSetting(f"{plug!r} is none of {', '.join(surroundings.PLUGS)}", path="battery")
    if level is not None:
        phone.battery = level
    if plug is not None:
        surroundings.set_plug(phone, plug)
    phone.bars_changed()
    phone.touched_app()
