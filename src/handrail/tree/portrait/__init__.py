"""An element in words that outlive its screen: a robust selector, an identity, a landmark. Pure."""

from handrail.tree.portrait.identity import identity
from handrail.tree.portrait.landmark import landmark
from handrail.tree.portrait.robust import robust

__all__ = ["identity", "landmark", "robust"]
