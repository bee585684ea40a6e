"""Many hosts with phones, one ledger of what is to be done on them. Only `ray_*` knows Ray."""

__version__ = "0.2.0"
