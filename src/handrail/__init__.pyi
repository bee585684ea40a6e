from handrail import sync as sync
from handrail.runtime import Runtime as Runtime
from handrail.simulator import simulated_phone as simulated_phone

__version__: str
