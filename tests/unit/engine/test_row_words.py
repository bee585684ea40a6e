"""What a row says in an envelope: never what a password field inside it holds."""

from __future__ import annotations

from handrail.engine.conditions import effective_text
from handrail.screen.node import MASK
from handrail.screen.parse import parse
from handrail.screen.select import NoHandles

FIELD = '<node class="android.widget.TextView" password="true" text="hunter2" bounds="[0,0][90,40]"/>'
ROW = f'<node class="android.widget.LinearLayout" clickable="true" bounds="[0,0][100,50]">{FIELD}</node>'


def test_a_password_inside_a_row_is_masked() -> None:
    screen = parse(f'<hierarchy rotation="0">{ROW}</hierarchy>'.encode())
    [row] = [node for node in screen.nodes if node.clickable]
    assert effective_text(screen, row, NoHandles()) == MASK
