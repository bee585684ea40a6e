"""The helper's two APKs: where they are on this machine, and whether the phone has them already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Shell
from handrail.android.helper.manifest import Manifest, read_manifest
from handrail.android.install import install

PACKAGE = "com.agentest.helper"
PACKAGES = (PACKAGE, f"{PACKAGE}.test")
FOLDERS = ("HANDRAIL_HELPER_DIR", "AGENTEST_HELPER_APK_DIR")
"""Either names the folder; the first that is set counts."""

_VERSION = re.compile(r"\bversionCode=(\d+)")
Apks = dict[str, tuple[Path, Manifest]]
"""By package."""


def find_apks(env: Mapping[str, str]) -> Apks | str:
    """Both APKs, told by their manifests and not by their names; or why they are not to be had."""
    folder = next((env[name] for name in FOLDERS if env.get(name)), "")
    if not folder:
        return f"no helper APKs: {FOLDERS[0]} is not set"
    found: Apks = {}
    for path in sorted(Path(folder).glob("*.apk")):
        manifest = read_manifest(path)
        if manifest is not None and manifest.package in PACKAGES:
            found[manifest.package] = (path, manifest)
    missing = [package for package in PACKAGES if package not in found]
    return found if not missing else f"no helper APKs: {' and '.join(missing)} not found in {folder}"


async def put_apks(device: AdbDevice, apks: Apks) -> None:
    """Install what is missing or older than ours."""
    for package, (path, manifest) in apks.items():
        installed = await _installed_version(device.shell, package)
        if installed is None or installed < manifest.version_code:
            await install(device, path)


async def _installed_version(shell: Shell, package: str) -> int | None:
    told = await shell.run(["dumpsys", "package", package], check=False)
    found = _VERSION.search(told.text)
    return int(found[1]) if found else None
