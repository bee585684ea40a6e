"""What may be done without asking, what needs a person's yes, and what is refused."""

from handrail.engine.policy.policy import Policy
from handrail.engine.policy.subject import Caller, Door, Kind, Resolved, Subject, Verdict
from handrail.protocol.traits import Span

__all__ = ["Caller", "Door", "Kind", "Policy", "Resolved", "Span", "Subject", "Verdict"]
