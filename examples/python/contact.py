"""Make a contact, and let every step prove itself.

python examples/python/contact.py             on a simulated phone
python examples/python/contact.py SERIAL      on the phone with that serial
"""

import asyncio
import sys

from handrail import Runtime, simulated_phone


async def main(serial: str) -> None:
    async with Runtime.open() as runtime:
        phone = await runtime.session(serial)
        await phone.start_app("com.google.android.contacts", reason="I want to add a contact")
        await phone.tap("Create new contact", reason="I start a new one", expect="First name")
        await phone.type_text("Ada", target="First name", reason="I type the first name")
        await phone.type_text("Lovelace", target="Last name", reason="I type the last name")
        saved = await phone.tap("Save", reason="I save the contact")
        check = await phone.expect_visible({"text_contains": "Lovelace"})
        print("saved:", saved.lifecycle_state, "| on the screen:", check.success)


async def on_simulator() -> None:
    async with simulated_phone() as serial:
        await main(serial)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]) if len(sys.argv) > 1 else on_simulator())
