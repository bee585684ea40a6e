"""A flow as Python: what is written compiles and says the same; what it can't say is told."""

from __future__ import annotations

import ast

from handrail.flow.document import loads
from handrail.flow.python_text import python_text

FLOW = """name: Greet
app: com.example
env:
  WHO: Ada
steps:
  - tap: Name
    expect: Ready
  - type_text: {target: {id: name}, text: "Dear ${WHO}"}
  - tap: Later
    optional: true
  - repeat:
      times: 2
      steps:
        - swipe: up
  - when: Welcome
    then:
      - tap: Close
"""


def test_a_test_for_pytest_keeps_variables_and_names_what_is_left_out() -> None:
    text, left_out = python_text(loads(FLOW), "pytest")
    ast.parse(text)
    assert '@pytest.mark.handrail(app="com.example")\ndef test_greet(phone):' in text
    assert 'WHO = "Ada"' in text
    assert '    phone.tap("Name", expect="Ready")' in text
    assert '    phone.type_text(f"Dear {WHO}", target={"id": "name"})' in text
    assert "    with suppress(HandrailError):\n        phone.tap(" in text
    assert '    for _ in range(2):\n        phone.swipe(direction="up")' in text or 'swipe("up")' in text
    assert left_out == ["flow:15:5: Branch has no short form in Python"]


def test_a_script_starts_the_app() -> None:
    text, _ = python_text(loads(FLOW), "script")
    ast.parse(text)
    assert 'with phone() as p:\n    p.start_app("com.example")\n    p.tap("Name", expect="Ready")' in text
