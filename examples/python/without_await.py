"""A script without asyncio: every call returns when it is done, and one that fails raises.

python examples/python/without_await.py             on a simulated phone
python examples/python/without_await.py SERIAL      on the phone with that serial
"""

import sys

from handrail.errors import ElementNotFound
from handrail.sync import phone

serial = sys.argv[1] if len(sys.argv) > 1 else None

with phone(serial, sim=serial is None) as p:
    p.start_app("com.google.android.contacts", reason="I want to add a contact")
    p.tap("Create new contact", reason="I start a new one", expect="First name")
    p.type_text("Ada", target="First name", reason="I type the first name")
    p.tap("Save", reason="I save the contact")
    p.expect_visible({"text_contains": "Ada"})
    print(p.get_ui_tree().details["text"].splitlines()[0])
    try:
        p.tap("Safe", reason="I tap what is not there")
    except ElementNotFound as error:
        print(error.code, "|", error.hint)
