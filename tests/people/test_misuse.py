"""Every way to hold the two faces wrongly is answered by what to write, and by no word about the inside."""

from __future__ import annotations

import asyncio
import gc
import inspect
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail import Runtime, simulated_phone
from handrail.awaited import Awaited, Misused, in_words
from handrail.engine.session import Session
from handrail.engine.short_forms import DeskForms, ShortForms
from handrail.errors import HandrailError
from handrail.protocol.read import action_from
from handrail.sync import BlockingPhone, phone, runtime
from handrail.sync.short_forms import BlockingDeskForms, BlockingForms
from tests.people.story import config_of, opened
from tests.scenario.world import play, world

INSIDE = re.compile(
    r"ShortForms|BlockingForms|DeskForms|Session\b|_AsyncGenerator|coroutine|generator|object at 0x|_do\b|"
    r"handrail\.(?!sync\b)|pydantic|Awaited|AsyncBlock|__\w+__|NoneType|Traceback"
)


def said(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def helps(error: BaseException, *words: str) -> None:
    told = said(error)
    assert not INSIDE.search(told), told
    assert "handrail.sync" in told
    for word in words:
        assert word in told, told


ON_A_BLOCK: list[Callable[[Any], Any]] = [
    lambda block: block.session,
    lambda block: block.session(),
    lambda block: block.startswith("127"),
    lambda block: block.__enter__(),
    list,
    bool,
    lambda block: block["serial"],
]


@pytest.mark.parametrize("use", ON_A_BLOCK)
@pytest.mark.parametrize(
    ("make", "write"),
    [
        (Runtime.open, "`async with Runtime.open() as runtime:`"),
        (simulated_phone, "`async with simulated_phone() as serial:`"),
    ],
)
def test_a_block_that_is_not_entered_says_how_to(
    make: Callable[[], Any], write: str, use: Callable[[Any], Any]
) -> None:
    with pytest.raises(Misused) as caught:
        use(make())
    helps(caught.value, write)


def test_a_block_that_is_awaited_says_how_to() -> None:
    async def main() -> None:
        await Runtime.open()  # type: ignore[misc]

    with pytest.raises(Misused) as caught:
        asyncio.run(main())
    helps(caught.value, "`async with Runtime.open() as runtime:`")


def test_with_instead_of_async_with_says_so() -> None:
    with pytest.raises(Misused) as caught, Runtime.open() as _:  # type: ignore[attr-defined]
        pass
    helps(caught.value, "async with")


def test_the_class_itself_opens_nothing() -> None:
    for make in (Runtime, lambda: Runtime("home")):  # type: ignore[call-arg, arg-type]
        with pytest.raises(Misused) as caught:
            make()  # type: ignore[call-arg]
        helps(caught.value, "`async with Runtime.open() as runtime:`")


ON_A_CALL: list[Callable[[Any], Any]] = [
    lambda call: call.success,
    lambda call: call.details["text"],
    lambda call: call.tap("Save"),
    bool,
    len,
    list,
    lambda call: call["text"],
    lambda call: "text" in call,
    lambda call: call.__enter__(),
    lambda call: call.__aenter__(),
]


@pytest.mark.parametrize("use", ON_A_CALL)
def test_a_call_that_is_not_awaited_says_so(tmp_path: Path, use: Callable[[Any], Any]) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            for call, write in (
                (w.session.tap("Save"), "`await phone.tap(…)`"),
                (w.session.run({"type": "tap", "target": "Save"}), "`await phone.run(…)`"),
                (w.session.stop(), "`await phone.stop()`"),
                (w.runtime.session(), "`await runtime.session(…)`"),
                (w.runtime.devices(), "`await runtime.devices()`"),
            ):
                with pytest.raises(Misused) as caught:
                    use(call)
                helps(caught.value, write)
            assert w.inputs() == []

    play(story())


def test_a_call_that_is_dropped_warns_by_its_own_name(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                w.session.tap("Save")
                w.runtime.session()
                gc.collect()
            texts = [str(one.message) for one in told]
            assert len(texts) == 2, texts
            assert all("handrail.sync" in text and not INSIDE.search(text) for text in texts), texts
            assert "Write `await phone.tap(…)`" in texts[0]
            assert w.inputs() == []

    play(story())


def test_a_coroutine_is_still_one_for_asyncio(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            one = asyncio.create_task(w.session.get_ui_tree())
            two = w.session.get_ui_tree()
            assert asyncio.iscoroutine(two)
            assert isinstance(two, Awaited)
            assert "not awaited" in repr(two)
            three = asyncio.wait_for(w.session.get_ui_tree(), 30)
            told = await asyncio.gather(one, two, three)
            assert all(envelope.success for envelope in told)
            assert "begun" in repr(two)

    play(story())


def test_what_was_closed_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            kept, session = w.runtime, w.session
        for call in (session.tap("Save"), session.get_ui_tree(), kept.session(), kept.devices()):
            with pytest.raises(Misused, match="is closed") as caught:
                await call
            helps(caught.value, "`async with Runtime.open()`")
        assert w.inputs() == []

    play(story())


def test_a_session_of_another_loop_says_so(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    block = world(tmp_path)
    try:
        w = loop.run_until_complete(block.__aenter__())
        loop.run_until_complete(w.session.get_ui_tree())
        for call in (w.session.tap("Save"), w.runtime.session()):
            with pytest.raises(Misused, match="another event loop") as caught:
                asyncio.run(_awaited(call))
            helps(caught.value, "asyncio.run(main())")
        assert w.inputs() == []
        loop.run_until_complete(block.__aexit__(None, None, None))
    finally:
        loop.close()


async def _awaited(call: Any) -> Any:
    return await call


def test_asyncio_run_inside_a_loop_leaves_words_about_the_call(tmp_path: Path) -> None:
    """asyncio itself refuses; what was handed to it says what would work."""

    async def story() -> None:
        async with world(tmp_path) as w:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                with pytest.raises(RuntimeError, match="running event loop"):
                    asyncio.run(w.session.tap("Save"))
                gc.collect()
            assert ["handrail.sync" in str(one.message) for one in told] == [True]
            assert w.inputs() == []

    play(story())


def test_a_blocking_phone_that_was_closed_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        pass
    made.close()
    for use in (made.get_ui_tree, made.stop, lambda: made.tap("Save")):
        with pytest.raises(Misused, match="closed") as caught:
            use()
        assert not INSIDE.search(said(caught.value))


def test_async_with_instead_of_with_says_so_and_leaves_nothing_open(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path):
            raise AssertionError("never reached")

    with pytest.raises(Misused) as caught:
        asyncio.run(main())
    helps(caught.value, "Write `with`")
    assert not [one for one in threading.enumerate() if one.name == "handrail.sync"]


def test_two_phones_in_one_call_are_refused() -> None:
    with pytest.raises(Misused, match="two phones"):
        phone("127.0.0.1:1", sim=True)


WRONG: list[Callable[[inspect.Signature], tuple[list[Any], dict[str, Any]]]] = [
    lambda _: (["x"] * 30, {}),
    lambda _: ([], {"nonsense": 1}),
    lambda signature: ([], {_misspelt(signature): 1}),
    lambda signature: (["x"], {_first(signature): "x"}),
    lambda _: ([], {}),
]
KINDS: list[Any] = [
    None,
    3,
    3.5,
    True,
    "",
    "x" * 200_000,
    [],
    {},
    [None],
    {"a": {"b": []}},
    object(),
    b"\xff",
    (),
]


def _first(signature: inspect.Signature) -> str:
    return next(name for name in signature.parameters if name != "self")


def _misspelt(signature: inspect.Signature) -> str:
    return _first(signature) + "_"


def forms(cls: type) -> Iterator[tuple[str, inspect.Signature]]:
    for name, member in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and name != "run":
            yield name, inspect.signature(member)


def required(signature: inspect.Signature) -> list[str]:
    empty = inspect.Parameter.empty
    return [one.name for one in signature.parameters.values() if one.default is empty and one.name != "self"]


def adversary(face: object, cls: type) -> Iterator[tuple[str, BaseException]]:
    """Wrong arguments for every method: too many, unknown, misspelt, twice, none, and of every wrong type."""
    for name, signature in forms(cls):
        calls = [make(signature) for make in WRONG]
        for value in KINDS:
            if needed := required(signature):
                calls.append(([], dict.fromkeys(needed, value)))
            others = [one for one in signature.parameters if one not in (*needed, "self")]
            calls += [([], {**dict.fromkeys(needed, "x"), other: value}) for other in others]
        for args, kwargs in calls:
            try:
                getattr(face, name)(*args, **kwargs)
            except Exception as error:
                yield name, error


@in_words("phone", is_blocking=True)
class Reads(BlockingForms, BlockingDeskForms):
    """Actions are read, and not done: what a call is refused for is decided before that."""

    def run(self, action: Any) -> Any:
        return action_from(dict(action))


@pytest.mark.timeout(180)
@pytest.mark.parametrize("cls", [BlockingForms, BlockingDeskForms])
def test_wrong_arguments_are_told_by_the_name_of_the_method_and_of_the_field(cls: type) -> None:
    count = 0
    for name, error in adversary(Reads(), cls):
        told = said(error)
        assert isinstance(error, HandrailError), (name, told)
        assert not INSIDE.search(told), (name, told)
        assert len(told) < 2_000, (name, told[:300])
        if isinstance(error, Misused):
            assert told.startswith(f"{name}() "), told
            assert f"It takes {name}(" in told
        count += 1
    assert count > 500


@pytest.mark.parametrize("action", [*KINDS, {"type": 3}, {"type": "tap"}, {"type": "click", "target": "x"}])
def test_what_is_no_action_is_told_in_words(tmp_path: Path, action: Any) -> None:
    with opened(tmp_path) as face:
        with pytest.raises(HandrailError) as caught:
            face.run(action)
        assert not INSIDE.search(said(caught.value)), said(caught.value)
        assert face.simulated is not None
        assert face.simulated.input_log == []


@pytest.mark.parametrize("cls", [ShortForms, DeskForms])
def test_the_awaited_face_answers_wrong_arguments_in_the_same_words(cls: type) -> None:
    @in_words("phone")
    class Unread(ShortForms, DeskForms):
        async def run(self, action: Any) -> Any:
            raise AssertionError("never reached")

    for name, signature in forms(cls):
        for make in WRONG[:3]:
            args, kwargs = make(signature)
            with pytest.raises(Misused) as caught:
                getattr(Unread(), name)(*args, **kwargs)
            assert said(caught.value).startswith(f"{name}() ")
            assert not INSIDE.search(said(caught.value))


def test_other_methods_answer_in_the_same_words(tmp_path: Path) -> None:
    with runtime(config_of(tmp_path)) as home:
        for call in (lambda: home.session(1, 2, 3), lambda: home.devices(1)):  # type: ignore[call-arg, misc, arg-type]
            with pytest.raises(Misused, match="It takes"):
                call()
    assert issubclass(BlockingPhone, BlockingForms)
    assert issubclass(Session, ShortForms)
