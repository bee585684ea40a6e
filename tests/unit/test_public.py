"""What `import handrail` gives, and what it does not cost."""

from __future__ import annotations

import subprocess
import sys

import pytest

import handrail


def test_the_package_itself_imports_nothing_of_what_it_offers() -> None:
    program = "import sys, handrail; print([name for name in sys.modules if name.startswith('handrail.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_public_names_are_the_real_ones() -> None:
    from handrail.runtime import Runtime  # noqa: PLC0415
    from handrail.simulator import simulated_phone  # noqa: PLC0415

    assert handrail.Runtime is Runtime
    assert handrail.simulated_phone is simulated_phone


def test_the_face_without_await_needs_no_import_of_its_own_and_no_pytest() -> None:
    program = "import sys; sys.modules['pytest'] = None; import handrail; print(handrail.sync.phone.__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "phone\n"


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Phone'"):
        _ = handrail.Phone  # type: ignore[attr-defined]
