"""Variables: filled in texts and numbers, with no language behind them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail.flow.document import loads
from handrail.flow.variables import VariableReference, fill_text, references
from tests.cases import each


@each(
    ("text", "filled"),
    [
        ("Hello ${NAME}!", "Hello Ada!"), ("${NAME}${NAME}", "AdaAda"), ("${OTHER:-nobody}", "nobody"),
        ("${OTHER:-}", ""), ("${NAME:-nobody}", "Ada"), ("$${NAME}", "${NAME}"), ("$$${NAME}", "$${NAME}"),
        ("${secret:PIN}", "${secret:PIN}"), ("costs $5 {NAME} ${", "costs $5 {NAME} ${"),
        ("${NESTED}", "${NAME}"),
    ],
)  # fmt: skip
def test_a_text_is_filled_once(text: str, filled: str) -> None:
    assert fill_text(text, {"NAME": "Ada", "NESTED": "${NAME}"}) == filled


@each("text", ["${1+1}", "${a.b}", "${__import__('os')}", "${}", "${A-b}", "${A:=b}", "${ A }"])
def test_nothing_but_a_name_is_a_variable(text: str) -> None:
    with pytest.raises(InvalidAction, match="is not a variable") as refused:
        fill_text(text, {"A": "x"})
    assert "$${" in refused.value.hint


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidAction, match="NMAE has no value") as refused:
        fill_text("${NMAE}", {"NAME": "Ada"})
    assert "Did you mean ${NAME}?" in refused.value.hint


def test_a_secret_can_not_be_meant_literally() -> None:
    with pytest.raises(InvalidAction, match="literally"):
        fill_text("$${secret:PIN}", {})


def test_references_are_listed_without_secrets_and_literals() -> None:
    assert references("${A} ${B:-c} ${secret:D} $${E}") == [
        VariableReference("A"),
        VariableReference("B", "c"),
    ]


@given(st.text(), st.dictionaries(st.from_regex("[A-Z]{1,3}", fullmatch=True), st.text(), max_size=3))
def test_whatever_the_text_it_is_filled_or_refused(text: str, env: dict[str, str]) -> None:
    try:
        filled = fill_text(text, env)
    except InvalidAction:
        assert "${" in text
    else:
        assert filled == text or "${" in text


def test_a_flow_with_a_missing_value_can_be_read_but_not_bound() -> None:
    document = loads("name: n\ntags: [a]\nsteps:\n  - tap: ${WHO}\n  - wait: ${MS}")
    assert (document.name, document.tags, document.valid_flow) == ("n", ("a",), None)
    with pytest.raises(InvalidAction, match="MS has no value"):
        document.flow  # noqa: B018  (the property refuses)
    with pytest.raises(InvalidAction) as refused:
        document.bind({})
    assert [one["line"] for one in refused.value.details["problems"]] == [4, 5]
    assert document.bind({"WHO": "Ada", "MS": "5"}).step_source((0,)) == {"tap": "Ada"}
