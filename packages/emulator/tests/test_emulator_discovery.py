from __future__ import annotations

import os
from pathlib import Path

from handrail.android.emulator_console import console_port
from handrail_emulator import Endpoint, find_endpoint


def test_the_port_is_the_consoles_plus_3000_unless_its_file_says_otherwise(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "TMPDIR": str(tmp_path / "tmp"), "USER": "ada"}
    env["HOME"] = str(tmp_path / "home")
    assert find_endpoint("emulator-5554", env) == Endpoint(8554)
    folders = ["run/avd/running", "tmp/avd/running", "tmp/android-ada/avd/running"]
    folders += ["home/Library/Caches/TemporaryItems/avd/running", "home/.android/avd/running"]
    for number, folder in enumerate(folders):
        (tmp_path / folder).mkdir(parents=True)
        text = (
            f"port.serial={5556 + 2 * number}\nport.adb=1\ngrpc.port={9000 + number}\ngrpc.token = t{number}"
        )
        (tmp_path / folder / f"pid_{number}.ini").write_text(text)
        assert find_endpoint(f"emulator-{5556 + 2 * number}", env) == Endpoint(9000 + number, f"t{number}")
    assert find_endpoint("emulator-5554", env) == Endpoint(8554)


def test_of_two_files_for_one_port_the_newer_counts(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    folder = tmp_path / "avd/running"
    folder.mkdir(parents=True)
    for number, age in ((1, 200), (2, 100), (3, 300)):
        path = folder / f"pid_{number}.ini"
        path.write_text(f"port.serial=5554\ngrpc.port={9000 + number}\n")
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    assert find_endpoint("emulator-5554", env) == Endpoint(9002)


def test_only_emulators_of_this_machine_have_a_console() -> None:
    assert console_port("emulator-5554") == 5554
    assert console_port("127.0.0.1:5555") == 5554
    assert console_port("localhost:5557") == 5556
    for serial in ("127.0.0.1:6555", "127.0.0.1:5556", "192.168.0.7:5555", "R58M123ABC", "emulator-x"):
        assert console_port(serial) is None
        assert find_endpoint(serial, {}) is None
