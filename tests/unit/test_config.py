"""What the environment decides: defaults, spellings, refusals, and the page that lists it all."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from handrail.cli.doctor import warn_of_unknown_variables
from handrail.config import VARIABLES, Config, Variable, host_port
from handrail.errors import InvalidAction
from tests.cases import each

ROOT = Path(__file__).parent.parent.parent


def config(**env: str) -> Config:
    return Config.from_env({"HOME": "/home/anna", **env})


@each(
    ("env", "home"),
    [
        ({}, "/home/anna/.local/share/handrail"),
        ({"XDG_DATA_HOME": "/data"}, "/data/handrail"),
        ({"XDG_DATA_HOME": "relative/counts/as/unset"}, "/home/anna/.local/share/handrail"),
        ({"XDG_DATA_HOME": "/data", "HANDRAIL_HOME": "/mine"}, "/mine"),
        ({"HANDRAIL_HOME": ""}, "/home/anna/.local/share/handrail"),
    ],
)
def test_home_is_the_named_folder_or_the_users_data_folder(env: dict[str, str], home: str) -> None:
    assert config(**env).home == Path(home)


def test_everything_that_is_kept_is_under_home() -> None:
    made = config(HANDRAIL_HOME="/mine")
    places = [made.db, made.blobs, made.runs, made.storage, made.apps]
    assert [str(one) for one in places] == [
        "/mine/handrail.db",
        "/mine/blobs",
        "/mine/runs",
        "/mine/storage",
        "/mine/apps",
    ]
    settings = [made.permissions, made.policy, made.secrets]
    assert [str(one.relative_to("/mine/config")) for one in settings] == [
        "permissions.json",
        "policy.toml",
        "secrets",
    ]


def test_reading_the_environment_makes_no_folder(tmp_path: Path) -> None:
    config(HANDRAIL_HOME=str(tmp_path / "home"))
    assert list(tmp_path.iterdir()) == []


def test_home_is_made_on_demand_for_its_owner_only(tmp_path: Path) -> None:
    made = config(HANDRAIL_HOME=str(tmp_path / "a" / "home"))
    assert made.make_home() == tmp_path / "a" / "home"
    assert stat.S_IMODE(made.home.stat().st_mode) == 0o700


def test_a_home_that_others_can_read_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    config(HANDRAIL_HOME=str(tmp_path)).make_home()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_home_that_can_not_be_made_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidAction) as caught:
        config(HANDRAIL_HOME=str(tmp_path / "file" / "home")).make_home()
    assert caught.value.details["path"] == "HANDRAIL_HOME"


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    made = config()
    assert (made.device, made.devices, made.adb) == (None, (), None)
    assert (made.adb_host, made.adb_port, made.helper, made.log) == ("127.0.0.1", 5037, "auto", "warning")
    assert (made.sim_seed, made.sim_apps) == (1, None)


def test_lists_are_separated_by_commas() -> None:
    made = config(HANDRAIL_DEVICES=" 127.0.0.1:6555, [::1]:6557 ,", HANDRAIL_SIM_APPS="notes,shop")
    assert made.devices == ("127.0.0.1:6555", "[::1]:6557")
    assert made.sim_apps == ("notes", "shop")


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER"])
def test_the_helper_is_switched_off_by_either_spelling(name: str) -> None:
    assert config(**{name: "1"}, HANDRAIL_HELPER="u2").helper == "none"
    assert config(**{name: "0"}, HANDRAIL_HELPER="u2").helper == "u2"


@each(
    ("env", "where"),
    [
        ({"ANDROID_ADB_SERVER_PORT": "15037"}, ("127.0.0.1", 15037)),
        ({"ADB_SERVER_SOCKET": "tcp:15037"}, ("127.0.0.1", 15037)),
        ({"ADB_SERVER_SOCKET": "tcp:localhost:15037"}, ("127.0.0.1", 15037)),
        ({"ANDROID_ADB_SERVER_ADDRESS": "10.0.0.2"}, ("10.0.0.2", 5037)),
        ({"ADB_SERVER_SOCKET": "tcp:10.0.0.2:5038", "ANDROID_ADB_SERVER_PORT": "1"}, ("10.0.0.2", 5038)),
    ],
)
def test_the_adb_server_is_found_as_adb_itself_finds_it(env: dict[str, str], where: tuple[str, int]) -> None:
    made = config(**env)
    assert (made.adb_host, made.adb_port) == where


@each(
    ("name", "value"),
    [
        ("ANDROID_ADB_SERVER_PORT", "adb"), ("ANDROID_ADB_SERVER_PORT", "70000"),
        ("ADB_SERVER_SOCKET", "localfilesystem:/tmp/adb"), ("ADB_SERVER_SOCKET", "tcp:"),
        ("HANDRAIL_DEVICES", "127.0.0.1"), ("HANDRAIL_DEVICES", "127.0.0.1:6555,:5"),
        ("HANDRAIL_HELPER", "jar"), ("HANDRAIL_DISABLE_HELPER", "maybe"), ("HANDRAIL_LOG", "loud"),
        ("HANDRAIL_SIM_SEED", "-1"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_the_variables_name(name: str, value: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        config(**{name: value})
    assert caught.value.details["path"] == name
    assert caught.value.message.startswith(f"{name} is '")


def test_a_misspelt_variable_is_answered_with_the_nearest_name() -> None:
    env = {"HANDRAIL_HOMES": "/x", "HANDRAIL_ZZZ": "1", "HANDRAIL_HOME": "/y", "PATH": "/bin"}
    lines = list(warn_of_unknown_variables(env))
    assert lines == [
        "HANDRAIL_HOMES means nothing to Handrail; did you mean HANDRAIL_HOME?",
        "HANDRAIL_ZZZ means nothing to Handrail",
    ]


def test_secrets_have_names_of_their_own() -> None:
    assert list(warn_of_unknown_variables({"HANDRAIL_SECRET_BANK_PIN": "1234"})) == []


def test_an_address_is_a_host_and_a_port() -> None:
    assert host_port("127.0.0.1:6555") == ("127.0.0.1", 6555)
    assert host_port("[fe80::1]:5555") == ("fe80::1", 5555)
    assert host_port("phone.local:5555") == ("phone.local", 5555)
    for other in ("R58M", "emulator-5554", ":5555", "a:0", "a:70000", "a b:5555", "::1:5555", "a/b:5555"):
        assert host_port(other) is None


def test_every_variable_that_the_code_names_stands_in_the_table() -> None:
    known = {name for one in VARIABLES for name in (one.name, one.also)} | {"HANDRAIL_SECRET_"}
    sources = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"\b(?:HANDRAIL|AGENTEST)_[A-Z_]+", text)}
    assert "HANDRAIL_HOME" in named
    assert {name for name in named if name not in known and not name.startswith("HANDRAIL_SECRET_")} == set()


def row(one: Variable) -> str:
    name = f"`{one.name}`" + (f" (also `{one.also}`)" if one.also else "")
    return f"| {name} | {one.meaning} | {one.default or '–'} |"


def table() -> str:
    return "\n".join(["| variable | meaning | default |", "|---|---|---|", *map(row, VARIABLES)])


def test_the_page_prints_the_table() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    shown = re.search(r"<!-- variables -->\n(.*?)\n<!-- /variables -->", page, flags=re.S)
    assert shown[1] == table(), f"the table in docs/configuration.md should be:\n{table()}"
