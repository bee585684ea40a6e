"""The mobile network of phones that run together: they reach one another by number, as emulators do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handrail_sim.system.activities import Context

FIRST = 5554
"""An emulator's number ends with its console port; the short form alone reaches it, too."""


class Cell:
    """Numbers in a row: +1 555-521-5554, -5556, …"""

    def __init__(self, phones: Sequence[Context]) -> None:
        self._phones = list(phones)
        for index, phone in enumerate(self._phones):
            phone.number = f"+1555521{FIRST + 2 * index}"
            phone.cell = self

    def deliver(self, sender: str, to: str, text: str) -> None:
        """Delivers to the phone with this number, if there is one."""
        wanted = re.sub(r"\D", "", to)
        for phone in self._phones:
            if wanted in (phone.number[1:], phone.number[2:], phone.number[-4:]):
                phone.receive_sms(sender, text)
