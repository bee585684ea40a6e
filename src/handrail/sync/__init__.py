"""Handrail for code without `await`: scripts, notebooks, tests. The same names, and failures raise.

from handrail.sync import phone

with phone(sim=True) as p:
    p.tap("Save", reason="I save the contact")
"""

from handrail.sync.openers import (
    BlockingDesk,
    BlockingPhone,
    BlockingRuntime,
    browser,
    desk,
    flow,
    phone,
    runtime,
)

__all__ = ["BlockingDesk", "BlockingPhone", "BlockingRuntime", "browser", "desk", "flow", "phone", "runtime"]
