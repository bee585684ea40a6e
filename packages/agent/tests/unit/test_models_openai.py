"""A model behind an OpenAI-compatible server: real sockets, the real SDK."""

from __future__ import annotations

import base64
import dataclasses

import pytest
from packages.agent.tests.hosted.asking import KEY, OPENAI, PNG, PROMPT, ask
from packages.agent.tests.hosted.openai_wire import body, call_deltas, calls, refuses, says, streamed
from packages.agent.tests.hosted.server import Answer
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from handrail_agent.model import Prompt, PromptTurn, Usage
from handrail_agent.models.hosted import RAW_CHARS, THOUGHT_CHARS, usage_of
from handrail_agent.models.http_client import MAX_BYTES
from tests.cases import each

TAP = {"type": "tap", "target": "@b1", "reason": "to save it"}
TAP_JSON = '{"target": "@b1", "reason": "to save it"}'
IN_TEXT = '{"thought": "It is the save button.", "action": {"type": "tap", "target": "@b1"}}'


def test_a_tool_call_is_an_action_and_the_text_beside_it_the_thought() -> None:
    asked = ask(OPENAI, calls(("tap", TAP_JSON), content="I save the note."))
    assert asked.reply.action == TAP
    assert asked.reply.thought == "I save the note."
    assert asked.reply.problem == ""
    assert (asked.reply.usage.input_tokens, asked.reply.usage.output_tokens) == (1200, 30)


def test_the_server_gets_system_text_history_and_tools_and_the_key() -> None:
    turns = (PromptTurn("user", "one"), PromptTurn("assistant", "two"), PromptTurn("user", "three"))
    asked = ask(OPENAI, calls(("tap", TAP_JSON)), prompt=dataclasses.replace(PROMPT, turns=turns))
    told = [(one["role"], _text(one["content"])) for one in asked.body["messages"]]
    assert told == [("system", PROMPT.system), ("user", "one"), ("assistant", "two"), ("user", "three")]
    names = [tool["function"]["name"] for tool in asked.body["tools"]]
    assert names == [tool["name"] for tool in PROMPT.tools]
    assert asked.server.got[0].path == "/v1/chat/completions"
    assert asked.server.got[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_reason_is_the_thought_where_a_model_gives_none() -> None:
    assert ask(OPENAI, calls(("tap", TAP_JSON))).reply.thought == "to save it"


def test_the_first_of_several_calls_wins_and_the_reply_says_so() -> None:
    reply = ask(OPENAI, calls(("tap", TAP_JSON), ("finish", {"message": "done"}))).reply
    assert reply.action == TAP
    assert reply.problem == "2 tools were called; only the first, tap, was taken."


def test_nulls_in_a_call_are_what_was_left_out() -> None:
    assert ask(OPENAI, calls(("tap", {"target": "@b1", "expect": None}))).reply.action == {
        "type": "tap",
        "target": "@b1",
    }


def test_a_call_for_the_desk_has_the_desks_kind() -> None:
    assert ask(OPENAI, calls(("toast_dismiss", {"id": "t"}))).reply.action == {
        "type": "toast.dismiss",
        "id": "t",
    }


def test_a_streamed_call_is_the_same_call() -> None:
    asked = ask(OPENAI, streamed(*call_deltas("tap", TAP_JSON), finish="tool_calls"), stream=True)
    assert asked.body["stream"] is True
    assert asked.reply.action == TAP
    assert asked.reply.usage.input_tokens == 1200


def test_without_tools_the_action_is_read_from_the_text() -> None:
    asked = ask(OPENAI, says(f"Sure:\n```json\n{IN_TEXT}\n```\nThat is all."), mode="text")
    assert "tools" not in asked.body
    assert asked.reply.action == {"type": "tap", "target": "@b1"}
    assert asked.reply.thought == "It is the save button."


def test_streamed_text_is_the_same_text() -> None:
    pieces = [{"content": IN_TEXT[:40]}, {"content": IN_TEXT[40:]}]
    reply = ask(OPENAI, streamed(*pieces), mode="text", stream=True).reply
    assert reply.action == {"type": "tap", "target": "@b1"}
    assert reply.raw == IN_TEXT


def test_a_call_written_as_text_is_read_although_tools_were_offered() -> None:
    assert ask(OPENAI, says(IN_TEXT)).reply.action == {"type": "tap", "target": "@b1"}


@each(
    ("answer", "words"),
    [
        (calls(("tap", '{"target": "@b1"')), "arguments of tap are not valid JSON"),
        (calls(("tap", '["@b1"]')), "arguments of tap are not a JSON object"),
        (says("I would tap Save."), "There is no action in the answer."),
        (says('{"thought": "go", "action": {"type": "tap"', finish="length"), "cut off"),
        (says(None), "The answer was empty."),
        (says("", finish="length"), "cut off before it said anything"),
        (refuses("I can't help with that."), "The model refused: I can't help with that."),
        (says("no", finish="content_filter"), "The model refused: no"),
        (body({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}), "empty"),
    ],
)
def test_what_asking_again_may_mend_is_a_problem_and_no_exception(answer: Answer, words: str) -> None:
    reply = ask(OPENAI, answer).reply
    assert reply.action is None
    assert words in reply.problem


@pytest.mark.parametrize(
    ("answer", "words"), [(streamed(), "empty"), (streamed({"refusal": "No."}), "The model refused: No.")]
)
def test_an_empty_or_refusing_stream_is_a_problem_too(answer: Answer, words: str) -> None:
    assert words in ask(OPENAI, answer, stream=True).reply.problem


@pytest.mark.parametrize("stream", [False, True])
def test_a_huge_answer_is_not_read_to_its_end(stream: bool) -> None:
    kind = "text/event-stream" if stream else "application/json"
    endless = Answer(200, (b"data: " + b"x" * 99_994 for _ in range(1_000)), content_type=kind)
    asked = ask(OPENAI, endless, stream=stream)
    assert asked.reply.action is None
    assert "longer than it may be" in asked.reply.problem
    assert asked.server.sent < 10 * MAX_BYTES  # of a hundred million; what the sockets hold was sent, too
    assert len(asked.server.got) == 1


def test_a_picture_is_sent_only_to_a_model_that_sees() -> None:
    blind = ask(OPENAI, calls(("tap", TAP_JSON)))
    assert _pictures(blind.body["messages"][-1]["content"]) == []
    seeing = ask(OPENAI, calls(("tap", TAP_JSON)), sees=True)
    [url] = _pictures(seeing.body["messages"][-1]["content"])
    assert url == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def test_a_jpeg_is_called_one() -> None:
    prompt = Prompt("", (PromptTurn("user", "Look.", b"\xff\xd8\xff\xe0"),))
    [url] = _pictures(ask(OPENAI, says("?"), prompt=prompt, sees=True).body["messages"][-1]["content"])
    assert url.startswith("data:image/jpeg;")


def test_an_action_that_was_only_thought_of_is_not_taken() -> None:
    text = '<think>Perhaps {"type": "tap", "target": "@b9"}.</think>\n' + IN_TEXT
    for stream, answer in ((False, says(text)), (True, streamed({"content": text}))):
        reply = ask(OPENAI, answer, mode="text", stream=stream).reply
        assert reply.action == {"type": "tap", "target": "@b1"}
        assert reply.problem == ""


def test_what_is_kept_of_an_answer_is_short_and_can_be_written() -> None:
    reply = ask(OPENAI, says("half \ud83d and " + "x" * 100_000)).reply
    assert len(reply.raw) == RAW_CHARS
    assert len(reply.thought) == THOUGHT_CHARS
    assert (reply.raw + reply.thought).encode().startswith(b"half ? and")


def test_a_server_of_ones_own_has_no_price() -> None:
    assert ask("openai:gpt-4o-mini", says("?")).reply.usage.cost_usd is None


def test_prices_come_from_a_list_that_needs_no_network() -> None:
    used = RequestUsage(input_tokens=1_000_000, output_tokens=0)
    answer = ModelResponse(
        [],
        usage=used,
        model_name="gpt-4o-mini",
        provider_name="openai",
        provider_url="https://api.openai.com/v1",
    )
    assert usage_of(answer, is_priced=True) == Usage(1_000_000, 0, 0.15)
    assert usage_of(answer, is_priced=False).cost_usd is None
    answer.model_name = "no-such-model"
    assert usage_of(answer, is_priced=True).cost_usd is None


def _text(content: object) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)  # type: ignore[attr-defined]


def _pictures(content: object) -> list[str]:
    parts = content if isinstance(content, list) else []
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
