"""What may be done without asking, what needs a person's yes, and what is refused."""

from handrail.engine.policy.policy import Policy
from handrail.engine.policy.subject import Caller, Door, Kind, Resolved, Span, Subject, Verdict

__all__ = ["Caller", "Door", "Kind", "Policy", "Resolved", "Span", "Subject", "Verdict"]
