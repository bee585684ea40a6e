"""What must be awaited or entered, and says so in words where it was not. Knows no runtime and no session.

Python's own answers to these mistakes name the parts that a call is made of, not what to write instead.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import wraps
from inspect import Parameter, Signature, iscoroutinefunction, isfunction, signature
from types import TracebackType
from typing import Any, NoReturn, ParamSpec, TypeVar

from handrail.errors import HandrailError, InvalidAction

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C")
T_co = TypeVar("T_co", covariant=True)

_PYTHONS_OWN = ("_", "cr_", "gi_", "ag_")
"""How names begin that Python itself asks a coroutine for."""
WITHOUT_AWAIT = "Code without await uses handrail.sync: `from handrail.sync import phone`."


class Misused(InvalidAction, TypeError):
    """A call that can't mean what was written. Nothing was done."""

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


class _NotThere(Misused, AttributeError):
    """As `AttributeError`, so that whoever only asks whether something is there gets an answer."""


class Awaited(Coroutine[Any, Any, T_co]):
    """What an async method gives: a coroutine in everything, with words for those who forget to await it."""

    __slots__ = ("__weakref__", "_begun", "_coroutine", "_write")

    def __init__(self, write: str, coroutine: Coroutine[Any, Any, T_co]) -> None:
        self._write = write
        self._coroutine = coroutine
        self._begun = False

    def __await__(self) -> Generator[Any, Any, T_co]:
        self._begun = True
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:
        self._begun = True
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        self._begun = True
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._begun = True
        self._coroutine.close()

    def _words(self, kind: type[Misused] = Misused) -> Misused:
        self.close()  # it was told of: a warning at its end would be one too many
        return kind(
            f"{self._write} has not been awaited, so nothing was done",
            hint=f"Write `await {self._write}` in an `async def`. {WITHOUT_AWAIT}",
        )

    def _misused(self, *_: object) -> NoReturn:
        raise self._words()

    __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = __enter__ = __aenter__ = _misused

    def __exit__(self, *_: object) -> None:
        """Never reached; without it `with` would not ask for `__enter__`."""

    async def __aexit__(self, *_: object) -> None:
        """As `__exit__`."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith(_PYTHONS_OWN):
            raise AttributeError(name)
        raise self._words(_NotThere)

    def __repr__(self) -> str:
        return f"<{self._write}, {'begun' if self._begun else 'not awaited: nothing was done'}>"

    def __del__(self) -> None:
        if not self._begun:
            self._coroutine.close()
            words = f"{self._write} was never awaited, so nothing was done. Write `await {self._write}`."
            warnings.warn(f"{words} {WITHOUT_AWAIT}", RuntimeWarning, stacklevel=2)


def in_words(owner: str, *, made_by: str = "", is_blocking: bool = False) -> Callable[[type[C]], type[C]]:
    """For a class whose methods people call: misuse is answered by the method's own name and words.

    `owner` is what a program calls such an object: "phone". `made_by` is what to write where somebody calls
    the class itself. The failures of a blocking one are told without the way that they came.
    """

    def made(cls: type[C]) -> type[C]:
        for name, member in list(vars(cls).items()):
            if isfunction(member) and not name.startswith("_"):
                setattr(cls, name, _called(owner, member, is_blocking=is_blocking))
        if made_by:
            cls.__init__ = _built(cls.__init__, cls.__name__, made_by)  # type: ignore[method-assign]
        return cls

    return made


def _built(init: Callable[..., None], name: str, made_by: str) -> Callable[..., None]:
    @wraps(init)
    def called(*args: Any, **kwargs: Any) -> None:
        try:
            init(*args, **kwargs)
        except TypeError as error:
            if _is_from_inside(error):
                raise
            raise Misused(f"{name}() opens nothing", hint=f"Write `{made_by}`. {WITHOUT_AWAIT}") from None

    return called


def _is_from_inside(error: TypeError) -> bool:
    """Raised by what was called, not by the call."""
    return error.__traceback__ is None or error.__traceback__.tb_next is not None


def _called(owner: str, method: Callable[..., Any], *, is_blocking: bool) -> Callable[..., Any]:
    is_async = iscoroutinefunction(method)
    write = f"{owner}.{method.__name__}({'…' if method.__code__.co_argcount > 1 else ''})"

    @wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            answer = method(*args, **kwargs)
        except TypeError as error:
            if _is_from_inside(error):
                raise
            raise _wrong_call(method, error, kwargs) from None
        except HandrailError as error:
            if not is_blocking:
                raise
            raise error.with_traceback(None) from None
        return Awaited(write, answer) if is_async else answer

    return called


def _wrong_call(method: Callable[..., Any], error: TypeError, given: Iterable[str]) -> Misused:
    """What is wrong with the arguments, what was meant, and what the method takes."""
    from difflib import get_close_matches  # noqa: PLC0415 - for those who err

    name, plain = method.__name__, _plain(signature(method))
    strange = [word for word in given if word not in plain.parameters]
    meant = [close for word in strange for close in get_close_matches(word, plain.parameters, n=1)]
    guess = f"Did you mean {' and '.join(meant)}? " if meant else ""
    if strange:
        wrong = f"has no {' or '.join(map(repr, strange))}"
    else:  # "Session.tap() missing …": the class is nobody's business
        wrong = str(error).partition("() ")[2] or "got arguments that it does not take"
    return Misused(f"{name}() {wrong}", hint=f"{guess}It takes {name}{plain}.")


def _plain(full: Signature) -> Signature:
    """`(target, *, reason=None, expect=None)`: names and defaults, without types."""
    kept = [
        one.replace(annotation=Parameter.empty) for name, one in full.parameters.items() if name != "self"
    ]
    return full.replace(parameters=kept, return_annotation=Signature.empty)


class OpenUse:
    """Between opening and closing, and on one event loop: outside of that nothing is done, and it is said."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False

    def check(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._ended or self._loop is not loop:
            told = "is closed" if self._ended else "belongs to another event loop"
            raise Misused(
                f"{self._what} {told}, so nothing was done",
                hint="Use it inside the `async with Runtime.open()` that it comes from, in one "
                f"`asyncio.run(main())`. {WITHOUT_AWAIT}",
            )

    def end(self) -> None:
        self._ended = True


class AsyncBlock(AbstractAsyncContextManager[T_co]):
    """What `async with` takes, with words for every other use of it."""

    def __init__(self, write: str, block: AbstractAsyncContextManager[T_co]) -> None:
        self._write = write
        self._block = block

    async def __aenter__(self) -> T_co:
        return await self._block.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._block.__aexit__(kind, error, trace)

    def _words(self, kind: type[Misused]) -> Misused:
        what = self._write.partition(" as ")[0]
        return kind(
            f"{what} is a block and has not been entered",
            hint=f"Write `async with {self._write}:` in an `async def`. {WITHOUT_AWAIT}",
        )

    def _misused(self, *_: object) -> NoReturn:
        raise self._words(Misused)

    __await__ = __enter__ = __iter__ = __bool__ = __getitem__ = _misused

    def __exit__(self, *_: object) -> None:
        """Never reached; without it `with` would not ask for `__enter__`."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith(_PYTHONS_OWN):
            raise AttributeError(name)
        raise self._words(_NotThere)


def async_block(write: str) -> Callable[[Callable[P, AsyncIterator[T]]], Callable[P, AsyncBlock[T]]]:
    """As `asynccontextmanager`; `write` is what stands between `async with` and its colon."""

    def made(function: Callable[P, AsyncIterator[T]]) -> Callable[P, AsyncBlock[T]]:
        opened = asynccontextmanager(function)

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> AsyncBlock[T]:
            try:
                return AsyncBlock(write, opened(*args, **kwargs))
            except TypeError as error:
                raise _wrong_call(function, error, kwargs) from None

        return called

    return made
