"""Something that the policy asks a person about, answered by this program; then the proof in the journal.

python examples/python/ask_a_person.py
"""

import asyncio

from handrail import Runtime, simulated_phone
from handrail.safety.approval_store import AskedApproval


async def main() -> None:
    async with simulated_phone() as serial, Runtime.open() as runtime:

        async def answer(request: AskedApproval, _token: str | None) -> None:
            print("asked:", request.request.instruction)
            await runtime.approvals.answer(request.id, True, "the owner of the phone")

        runtime.approvals.notify = answer
        phone = await runtime.session(serial)
        done = await phone.shell(["getprop", "ro.product.model"], reason="I want to know the model")
        if done.approval is not None:
            print(done.approval.decision, "by", done.approval.by, "->", done.details["stdout"].strip())

        verdict = runtime.journal.verify()
        print("journal:", "whole" if verdict.ok else verdict.why)


if __name__ == "__main__":
    asyncio.run(main())
