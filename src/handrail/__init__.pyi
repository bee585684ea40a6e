from handrail.runtime import Runtime as Runtime
from handrail_sim.served import simulated_phone as simulated_phone

__version__: str
