"""Names for numbers, read from the contacts provider; times as threads show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from handrail_sim.apps.contacts.store import Contact, digits
from handrail_sim.apps.contacts.store import open_store as open_contacts

if TYPE_CHECKING:
    from handrail_sim.system.device import Device

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS


def contacts(phone: Device, query: str = "") -> list[Contact]:
    """People with a number."""
    return [contact for contact in open_contacts(phone).everybody(query) if contact.phone]


def names(phone: Device) -> dict[str, str]:
    """Who has which number; of two the first by name."""
    return {digits(contact.phone): contact.name for contact in reversed(contacts(phone))}


def shown_name(known: Mapping[str, str], address: str) -> str:
    """What stands above a thread: the person's name, else the number or sender as it came."""
    return known.get(digits(address) or address, address)


def shown_time(phone: Device, time_ms: int) -> str:
    """Coarser with age: Now, 5 min, 3:07 PM, Tue, Mar 9."""
    age = phone.wall_ms() - time_ms
    if age < _MINUTE_MS:
        return "Now"
    if age < _HOUR_MS:
        return f"{age // _MINUTE_MS} min"
    moment = phone.local(time_ms)
    if age < _DAY_MS:
        return f"{moment.hour % 12 or 12}:{moment:%M %p}"
    return f"{moment:%a}" if age < 7 * _DAY_MS else f"{moment:%b} {moment.day}"
