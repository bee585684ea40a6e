from handrail_sim.adbd.server import serve as serve
from handrail_sim.phone import Phone as Phone
from handrail_sim.served import simulated_phone as simulated_phone

__version__: str
