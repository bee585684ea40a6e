"""What gets no mutant, because no behaviour could tell: words for people and for the type checker.

- docstrings, `...`, annotations, base classes, the first argument of `cast`, `TypeVar` and such, `Literal`;
- what is logged, `__repr__`, `__all__`, `__slots__`, `if TYPE_CHECKING`, `assert_never`;
- messages: constants and f-strings given to an exception, an f-string with a blank, any text of three words
  that is neither SQL nor a regular expression;
- options that only guard against slips while programming: those of `@dataclass`, `strict` of `zip`.
"""

from __future__ import annotations

import ast
import re

FIELDS = frozenset({"annotation", "returns", "bases", "type_params", "ctx", "type_comment"})
"""Fields of any node that are not looked into."""
TYPING = frozenset({"TypeVar", "ParamSpec", "NewType", "assert_never", "dataclass"})
TYPES = frozenset({"Literal", "Annotated", "Callable", "ClassVar"})
LOGGERS = frozenset({"log", "_log", "logger", "_logger", "logging"})
DECLARED = frozenset({"__all__", "__slots__"})
SPOKEN = frozenset({"hint", "message"})
"""Keywords whose text people read."""
_SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|BEGIN|COMMIT|DROP|ALTER|WITH)\b")
_REGEX = re.compile(r"\\|\(\?|\[\^|\.\*|\)\?")
_THREE_WORDS = re.compile(r"\S+\s+\S+\s+\S")


def name_of(node: ast.AST) -> str:
    """The last part of a dotted name, also of what is called; '' for anything else."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else str(getattr(node, "id", ""))


def is_skipped(node: ast.AST, parent: ast.AST) -> bool:
    """Neither this node nor anything in it is changed."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.FunctionDef(name="__repr__"):
            return True
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant) or is_skipped(value, node)
        case ast.If(test=test):
            return name_of(test) == "TYPE_CHECKING"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in DECLARED
        case ast.Call(func=func):
            is_logging = isinstance(func, ast.Attribute) and name_of(func.value) in LOGGERS
            return is_logging or name_of(func) in TYPING
        case ast.Subscript(value=value):
            return name_of(value) in TYPES
        case ast.keyword(arg=word):
            return word in SPOKEN or (word == "strict" and name_of(parent) == "zip")
    return isinstance(node, ast.JoinedStr | ast.Constant) and (_is_said(node) or _makes_error(parent))


def _is_said(node: ast.JoinedStr | ast.Constant) -> bool:
    """A text for people."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) and " " in str(part.value) for part in node.values)
    text = node.value
    if not isinstance(text, str) or _SQL.match(text) or _REGEX.search(text):
        return False
    return bool(_THREE_WORDS.search(text))


def _makes_error(node: ast.AST) -> bool:
    """By its name, or because `mark_raised` saw it."""
    return name_of(node).endswith(("Error", "Exception")) or getattr(node, "is_raised", False)


def mark_raised(tree: ast.AST) -> None:
    """Calls that make what is raised, or what an `errors` module names, are known as such from now on."""
    errors = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("errors")
        for alias in node.names
    }
    for node in ast.walk(tree):
        made = node.exc if isinstance(node, ast.Raise) else node
        if isinstance(made, ast.Call) and (made is not node or name_of(made) in errors):
            made.is_raised = True  # type: ignore[attr-defined]
