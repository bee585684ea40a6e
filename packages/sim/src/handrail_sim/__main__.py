"""`python -m handrail_sim` is `handrail-sim`."""

import sys

from handrail_sim.command import main

sys.exit(main())
