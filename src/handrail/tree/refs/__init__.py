"""The session's refs: a ref means its element, or it is stale."""

from handrail.tree.refs.registry import Registry

__all__ = ["Registry"]
