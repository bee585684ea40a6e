"""The numbers of the device surface equal the vocabulary's defaults for them."""

from __future__ import annotations

from handrail.android import constants
from handrail.protocol.observe import GetLogs


def test_a_log_is_read_as_long_as_the_vocabulary_says() -> None:
    assert GetLogs.model_fields["max_lines"].default == constants.LOGCAT_LINES
