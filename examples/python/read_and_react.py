"""Read a screen as an agent does, act by ref, look at what changed, and handle a failure by its code.

python examples/python/read_and_react.py
"""

import asyncio

from handrail import Runtime, simulated_phone


async def main() -> None:
    async with simulated_phone() as serial, Runtime.open() as runtime:
        phone = await runtime.session(serial)
        await phone.start_app("com.android.settings", reason="I look for the display settings")
        screen = await phone.get_ui_tree()
        text = screen.details["text"]
        print(text.splitlines()[0])

        line = next(line for line in text.splitlines() if "Display" in line)
        opened = await phone.tap(line.split()[0], reason="I open the display settings")
        print("changes:", [change["type"] for change in opened.changes or ()][:3])

        missed = await phone.tap("Dark theem", reason="I switch to the dark theme")
        print(missed.failure_code, "|", missed.message)


if __name__ == "__main__":
    asyncio.run(main())
