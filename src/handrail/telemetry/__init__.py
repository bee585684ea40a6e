"""What is done, as spans and metrics for a collector that the owner named. Imported only where one is named.

Listens to sessions; the engine does not know of it. What may be sent stands in `allowed`, and nowhere else.
"""

from handrail.telemetry.listening import Telemetry

__all__ = ["Telemetry"]
