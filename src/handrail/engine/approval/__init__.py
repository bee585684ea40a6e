"""Questions to people: asked once, answered once, used once."""

from handrail.engine.approval.approvals import Approvals, Notify
from handrail.engine.approval.handover import KeepSecret
from handrail.engine.approval.request import Request, digest_of, mark_screenshot
from handrail.engine.approval.row import Answer, AskedApproval

__all__ = [
    "Answer",
    "Approvals",
    "AskedApproval",
    "KeepSecret",
    "Notify",
    "Request",
    "digest_of",
    "mark_screenshot",
]
