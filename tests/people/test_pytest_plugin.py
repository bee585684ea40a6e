"""pytest with Handrail installed, run as a person runs it; its own output, files and JUnit are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from handrail.config import Config
from handrail.sync import phone as opened_phone
from handrail.sync.openers import OpenBlock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.clock import SystemClock
from handrail_sim.phone import Phone
from tests.people.projects import SAMPLE, project, ran
from tests.people.test_notebook import Judge

pytestmark = pytest.mark.slow


@pytest.fixture
def served() -> Iterator[Served]:
    kept = OpenBlock(serve([Phone(clock=SystemClock())], port=0))
    yield kept.value[0]
    kept.close()


def test_the_sample_passes_on_two_workers_with_phones_of_their_own(tmp_path: Path) -> None:
    done = ran(tmp_path, "-n", "2", str(SAMPLE / "test_contacts.py"), cwd=SAMPLE)
    assert done.code == 0, done.text
    assert "5 passed" in done.text
    devices = done.properties("handrail_device")
    assert len(set(devices)) == len(devices) >= 3


def test_the_failing_sample_shows_what_was_on_the_phone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = ran(tmp_path, "--handrail-out", str(out), str(SAMPLE / "test_fails.py"), cwd=SAMPLE)
    assert done.code == 1, done.text
    expected = [
        r"phone = <phone 127\.0\.0\.1:\d+>", r'>       phone\.tap\("Safe"\)',
        r"E       handrail\.errors\.ElementNotFound: No element matches",
        r'E       Did you mean @b\d+ Button "Save"\?', r"-+ handrail: last actions on 127\.0\.0\.1:\d+ -+",
        r"✓ start_app com\.google\.android\.contacts  verified, \d+ ms",
        r"✓ tap Create new contact  pending verification, \d+ ms",
        r"✓ type_text Ada → First name  verified, \d+ ms", r"✗ tap Safe  ELEMENT_NOT_FOUND, \d+ ms",
        r"-+ handrail: last change -+", r'@f\d+ EditText text="First name" -> text="Ada"',
        r"-+ handrail: screen -+", r"@b\d+ Save", r"picture: .*/screen\.png", r"report:  .*/report\.html",
    ]  # fmt: skip
    for line in expected:
        assert re.search(f"^{line}", done.text, flags=re.M), f"{line}\n{done.text}"
    assert "handrail/sync" not in done.text  # the way inside is nobody's business
    assert len(done.text.splitlines()) < 70
    [page] = out.rglob("report.html")
    [picture] = out.rglob("screen.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert done.properties("handrail_report") == [str(page)]
    assert done.properties("handrail_failure") == ["ELEMENT_NOT_FOUND"]
    html = page.read_text()
    assert "default-src 'none'" in html
    Judge().feed(
        html.partition("<section>")[2].replace("<h2>", "").replace("</h2>", "").partition("</section>")[0]
    )


def test_what_does_not_use_it_does_not_pay_for_it(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        test_plain="""
import sys
def test_plain():
    ours = {name for name in sys.modules if name.split(".")[0] in ("handrail", "handrail_sim")}
    assert ours == {"handrail", "handrail.pytest_plugin"}, ours
    heavy = {"pydantic", "lxml", "mcp", "starlette", "cryptography", "click", "PIL", "websockets", "yaml"}
    assert not heavy & set(sys.modules), heavy & set(sys.modules)
""",
    )
    done = ran(tmp_path, "-p", "no:hypothesispytest", "-p", "no:anyio", str(folder))
    assert done.code == 0, done.text


def test_every_test_has_a_phone_that_nobody_has_used(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        test_fresh="""
import pytest
pytestmark = pytest.mark.handrail(app="com.google.android.contacts")
SERIALS = []

@pytest.mark.parametrize("number", [1, 2])
def test_nobody_was_here(phone, number):
    SERIALS.append(phone.serial)
    phone.expect_absent({"text_contains": "Zebulon"}, timeout_ms=0)
    phone.tap("Create new contact")
    phone.type_text("Zebulon", target="First name")
    phone.tap("Save")
    phone.expect_visible({"text_contains": "Zebulon"})

@pytest.mark.handrail(seed=9, faults=[{"fault": "latency", "command": "input", "ms": 1}])
def test_words_of_a_module_and_of_a_test_are_put_together(phone):
    assert phone.simulated.seed == 9
    assert "latency" in str(phone.simulated.faults._faults)
    phone.expect_app("com.google.android.contacts")

def test_a_test_may_do_anything_to_its_own_phone_and_not_to_this_machine(phone):
    assert phone.shell(["getprop", "ro.product.model"]).details["stdout"]
    from handrail.errors import ActionRejected
    with pytest.raises(ActionRejected):
        phone.run_script("echo hi")
""",
    )
    done = ran(tmp_path, str(folder))
    assert done.code == 0, done.text


def test_a_marker_that_nobody_understands_fails_its_test_with_a_hint(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        test_marked="""
import pytest
@pytest.mark.handrail(fault=["offline"])
def test_misspelt(phone): pass
@pytest.mark.handrail("com.example")
def test_positional(): pass
@pytest.mark.handrail(seed="7")
def test_type(phone): pass
@pytest.mark.handrail(faults=["no_such_fault"])
def test_unknown_fault(phone): pass
@pytest.mark.handrail(app="com.example.nowhere")
def test_unknown_app(phone): pass
""",
    )
    done = ran(tmp_path, str(folder))
    assert done.code == 1
    for told in (
        "@pytest.mark.handrail has no 'fault'. Did you mean faults? It takes app, faults, seed,",
        "@pytest.mark.handrail takes words, not ('com.example',). Write app='com.example'.",
        "@pytest.mark.handrail seed='7': should be int.",
        "no_such_fault",
        "APP_NOT_INSTALLED",
    ):
        assert told in done.text, done.text
    assert "Traceback" not in done.text
    assert "src/handrail" not in done.text


def test_without_the_simulator_the_fixture_says_what_to_install(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        conftest="import sys\nsys.modules['handrail_sim'] = None\n",
        test_it="def test_it(phone): pass\n",
    )
    done = ran(tmp_path, str(folder))
    assert done.code == 1
    assert "UNSUPPORTED: Simulated phones are not installed here" in done.text
    assert "pip install 'handrail[sim]'" in done.text
    assert "Traceback" not in done.text


def test_a_test_that_is_awaited_brings_the_same_evidence(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        test_awaited="""
import pytest
@pytest.fixture
def anyio_backend(): return "asyncio"

@pytest.mark.anyio
@pytest.mark.handrail(app="com.android.settings")
async def test_awaited(async_phone):
    async with async_phone() as phone:
        await phone.tap("Display")
        await phone.tap("Dismay")
""",
    )
    done = ran(tmp_path, str(folder))
    assert done.code == 1
    assert "ElementNotFound" in done.text
    assert re.search(r"^✗ tap Dismay  ELEMENT_NOT_FOUND", done.text, flags=re.M), done.text
    assert "handrail: screen" in done.text


ON_A_PHONE = {
    "test_real": """
def test_real(phone):
    assert phone.simulated is None
    phone.start_app("com.android.settings")
    phone.tap("Display")
"""
}


def test_a_real_phone_goes_home_first_and_is_given_back(tmp_path: Path, served: Served) -> None:
    folder = project(tmp_path, **ON_A_PHONE)
    done = ran(tmp_path, "--handrail-device", served.address, str(folder))
    assert done.code == 0, done.text
    assert done.properties("handrail_device") == [served.address]
    kinds = [one["action"] for one in served.phone.input_log if one["action"] in ("key", "down")]
    assert kinds == ["key", "down"]


def test_a_phone_that_somebody_holds_is_not_touched(tmp_path: Path, served: Served) -> None:
    folder = project(tmp_path, **ON_A_PHONE)
    config = Config.from_env({"HANDRAIL_HOME": str(tmp_path / "own-home"), "HOME": str(tmp_path)})
    with opened_phone(served.address, config=config) as holder:
        holder.press_key("home")
        before = len(served.phone.input_log)
        done = ran(tmp_path, "--handrail-device", served.address, str(folder))
        assert done.code == 1
        assert "DEVICE_BUSY" in done.text
        assert len(served.phone.input_log) == before


def test_more_workers_than_phones_are_refused(tmp_path: Path, served: Served) -> None:
    folder = project(tmp_path, **ON_A_PHONE)
    done = ran(tmp_path, "-n", "2", "--handrail-device", served.address, str(folder))
    assert done.code == 4
    assert f"2 workers can't share 1 phone ({served.address}): one acts at a time. Use -n 1" in done.text
    assert served.phone.input_log == []


def test_two_phones_are_shared_out_among_two_workers(tmp_path: Path) -> None:
    kept = OpenBlock(serve([Phone(clock=SystemClock()), Phone(clock=SystemClock(), serial="other")], port=0))
    try:
        addresses = [one.address for one in kept.value]
        folder = project(
            tmp_path,
            test_shared="""
import pytest
@pytest.mark.parametrize("number", range(6))
def test_shared(phone, number):
    phone.press_key("home")
""",
        )
        words = [word for one in addresses for word in ("--handrail-device", one)]
        done = ran(tmp_path, "-n", "2", *words, str(folder))
        assert done.code == 0, done.text
        assert set(done.properties("handrail_device")) == set(addresses)
        assert all(one.phone.input_log for one in kept.value)
    finally:
        kept.close()


def test_a_page_in_a_browser_is_driven_and_shown(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<title>Shop</title><h1>Shop</h1><button onclick=\"this.innerText='Bought'\">Buy now</button>"
    )
    folder = project(
        tmp_path,
        test_page=f"""
import functools, http.server, threading
import pytest

@pytest.fixture
def shop():
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory={str(tmp_path)!r})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{{server.server_port}}/page.html"
        server.shutdown()
        thread.join()

def test_page(browser_page, shop):
    browser_page.open_url(shop)
    browser_page.tap("Buy now", expect="Bought")

def test_page_fails(phone, shop):
    phone.open_url(shop)
    phone.tap("Sell")
""",
    )
    done = ran(tmp_path, "--handrail-device", "browser", str(folder), "-q")
    assert "1 failed, 1 passed" in done.text, done.text
    assert re.search(r"^✗ tap Sell  ELEMENT_NOT_FOUND", done.text, flags=re.M), done.text
    assert "Buy now" in done.text.partition("handrail: screen")[2]


def test_a_secret_is_in_no_file_of_a_failing_test(tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    out = tmp_path / "out"
    folder = project(
        tmp_path,
        test_secret="""
import pytest
@pytest.mark.handrail(app="com.google.android.contacts")
def test_secret(phone):
    phone.tap("Create new contact")
    phone.type_text("${secret:PASS}", target="First name")
    assert any("horse" in str(one) for one in phone.simulated.input_log)
    phone.tap("Nowhere")
""",
    )
    env = {"HANDRAIL_SECRET_PASS": secret}
    done = ran(tmp_path, "--handrail-out", str(out), str(folder), env=env)
    assert done.code == 1
    assert "ELEMENT_NOT_FOUND" in done.text, done.text
    assert secret not in done.text
    assert [path for path in out.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []
    [picture] = out.rglob("screen.png")
    with Image.open(picture) as image:
        scale = image.width / 1080
        field = image.convert("RGB").crop([round(edge * scale) for edge in (160, 270, 1020, 380)])
    assert len(field.getcolors(100_000) or ()) == 1, "the field is not painted over"
