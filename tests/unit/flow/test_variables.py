"""Variables: filled in texts and numbers, with no language behind them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail.flow.document import loads
from handrail.flow.variables import VariableReference, fill, references
from tests.cases import each


@each(
    ("text", "filled"),
    [
        ("Hello ${NAME}!", "Hello Ada!"),
        ("${NAME}${NAME}", "AdaAda"),
        ("${OTHER:-nobody}", "nobody"),
        ("${OTHER:-}", ""),
        ("${NAME:-nobody}", "Ada"),
        ("$${NAME}", "${NAME}"),
        ("$$${NAME}", "$${NAME}"),
        ("${secret:PIN}", "${secret:PIN}"),
        ("costs $5 {NAME} ${", "costs $5 {NAME} ${"),
        ("${NESTED}", "${NAME}"),
    ],
)
def test_a_text_is_filled_once(text: str, filled: str) -> None:
    assert fill(text, {"NAME": "Ada", "NESTED": "${NAME}"}) == filled


def test_data_of_any_shape_is_filled_and_keys_stay() -> None:
    assert fill({"${A}": ["${A}", 1, None, ("${A}",)]}, {"A": "b"}) == {"${A}": ["b", 1, None, ["b"]]}


@each("text", ["${1+1}", "${a.b}", "${__import__('os')}", "${}", "${A-b}", "${A:=b}", "${ A }"])
def test_nothing_but_a_name_is_a_variable(text: str) -> None:
    with pytest.raises(InvalidAction, match="is not a variable") as refused:
        fill(text, {"A": "x"})
    assert "$${" in refused.value.hint


def test_a_malformed_variable_is_found_behind_an_unknown_one() -> None:
    with pytest.raises(InvalidAction, match="is not a variable"):
        loads("- tap: ${UNKNOWN} ${a b}")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidAction, match="NMAE has no value") as refused:
        fill("${NMAE}", {"NAME": "Ada"})
    assert "Did you mean ${NAME}?" in refused.value.hint


def test_a_secret_can_not_be_meant_literally() -> None:
    with pytest.raises(InvalidAction, match="literally"):
        fill("$${secret:PIN}", {})


def test_references_are_listed_without_secrets_and_literals() -> None:
    assert references("${A} ${B:-c} ${secret:D} $${E}") == [
        VariableReference("A"),
        VariableReference("B", "c"),
    ]


@given(st.text(), st.dictionaries(st.from_regex("[A-Z]{1,3}", fullmatch=True), st.text(), max_size=3))
def test_whatever_the_text_it_is_filled_or_refused(text: str, env: dict[str, str]) -> None:
    try:
        filled = fill(text, env)
    except InvalidAction:
        assert "${" in text
    else:
        assert filled == text or "${" in text


FLOW = """
name: variables
app: ${APP:-com.android.settings}
env: {WHO: Ada, GREETING: "Hello ${WHO}", TIMES: 3, APP: com.a}
steps:
  - type_text: {text: "${GREETING}", target: "${FIELD:-Name}"}
  - start_app: ${APP}
  - repeat: {times: "${TIMES}", steps: [wait: "${MS:-5}"]}
  - tap: Save
    optional: ${MAYBE:-true}
"""


def bound(env: dict[str, str]) -> Any:
    return loads(FLOW).bind(env).flow


def test_the_files_own_values_are_defaults() -> None:
    flow = loads(FLOW).flow
    assert flow.app == "com.a"
    assert flow.steps[0].action.text == "Hello Ada"  # type: ignore[union-attr]
    assert flow == bound({})


def test_values_from_outside_win_also_inside_other_values() -> None:
    flow = bound({"WHO": "Bob", "FIELD": "Nick", "APP": "com.b"})
    typed, started = flow.steps[:2]
    assert (typed.action.text, typed.action.target.text) == ("Hello Bob", "Nick")
    assert (started.action.package, flow.app) == ("com.b", "com.b")


def test_a_variable_can_be_a_number_or_a_yes_where_one_is_wanted() -> None:
    _, _, repeat, tap = bound({"TIMES": "7", "MS": "40", "MAYBE": "false"}).steps
    assert (repeat.times, repeat.steps[0].action.duration_ms, tap.optional) == (7, 40, False)


def test_where_both_can_stand_quotes_decide() -> None:
    text = "- set_value:\n    target: A\n    value: %s\n"
    values = [loads(text % one).bind({"V": "75"}).flow.steps[0].action.value for one in ("${V}", '"${V}"')]  # type: ignore[union-attr]
    assert values == [75, "75"]


def test_a_number_can_be_passed_from_one_variable_to_another() -> None:
    flow = loads("env:\n  A: 12\n  B: ${A}\nsteps:\n  - type_text: ${B}\n  - wait: ${B}\n").flow
    assert flow.env == {"A": "12", "B": "12"}
    assert [flow.steps[0].action.text, flow.steps[1].action.duration_ms] == ["12", 12]  # type: ignore[union-attr]


def test_a_value_passed_on_to_another_file_is_a_text() -> None:
    flow = loads("- run_flow:\n    file: a.yaml\n    env:\n      A: ${N}\n").bind({"N": "3"}).flow
    assert flow.steps[0].env == {"A": "3"}  # type: ignore[union-attr]


def test_a_digit_that_is_typed_stays_a_text() -> None:
    flow = loads("- type_text: ${PIN}\n- tap: ${PIN}").bind({"PIN": "1234"}).flow
    assert [flow.steps[0].action.text, flow.steps[1].action.target.text] == ["1234", "1234"]  # type: ignore[union-attr]


def test_a_value_that_does_not_fit_is_refused_at_the_place_of_the_variable() -> None:
    with pytest.raises(InvalidAction) as refused:
        bound({"TIMES": "many"})
    assert (refused.value.details["line"], refused.value.details["path"]) == (8, "steps[2].times")


def test_a_flow_with_a_missing_value_can_be_read_but_not_bound() -> None:
    document = loads("name: n\ntags: [a]\nsteps:\n  - tap: ${WHO}\n  - wait: ${MS}")
    assert (document.name, document.tags, document.valid_flow) == ("n", ("a",), None)
    with pytest.raises(InvalidAction, match="MS has no value"):
        document.flow  # noqa: B018  (the property refuses)
    with pytest.raises(InvalidAction) as refused:
        document.bind({})
    assert [one["line"] for one in refused.value.details["problems"]] == [4, 5]
    assert document.bind({"WHO": "Ada", "MS": "5"}).step_source((0,)) == {"tap": "Ada"}


def test_a_missing_value_names_the_line_and_the_option() -> None:
    with pytest.raises(InvalidAction) as refused:
        loads("env: {NAME: x}\nsteps:\n  - tap: ${NMAE}").bind({})
    assert refused.value.details["line"] == 3
    assert "Did you mean ${NAME}?" in refused.value.hint
    assert "--env NMAE=" in refused.value.hint
