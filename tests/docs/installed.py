"""Both distributions as people get them: built from a clean clone, installed into new environments.

A stranger's package of the same name can't be taken: what is built here has a version with a label of its
own, which no index accepts, and nothing else satisfies the constraints.
"""

from __future__ import annotations

import os
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

import handrail

ROOT = Path(__file__).parents[2]
KEPT = ("PIP_", "UV_", "SSL_CERT_", "REQUESTS_")
"""How this computer reaches a package index."""
LABEL = "+here"
VERSION = f"{handrail.__version__}{LABEL}"
SATELLITES = tuple(sorted(path.name for path in (ROOT / "packages").iterdir()))
NAMES = {
    "handrail": "handrail-*.whl",
    **{f"handrail-{name}": f"handrail_{name}-*.whl" for name in SATELLITES},
}


@dataclass(frozen=True)
class Built:
    """The archives, and an environment with the tools of whoever makes and installs them."""

    folder: Path

    @property
    def dist(self) -> Path:
        return self.folder / "dist"

    @property
    def tools(self) -> Path:
        return self.folder / "tools" / "bin"

    def wheel(self, name: str) -> Path:
        [found] = self.dist.glob(NAMES[name])
        return found

    def sdist(self, name: str) -> Path:
        [found] = self.dist.glob(NAMES[name].replace("whl", "tar.gz"))
        return found

    @property
    def constraints(self) -> Path:
        """Dependencies as they are pinned; our own names are what was built here and nothing else."""
        return self.folder / "constraints.txt"

    def env(self, home: Path, **more: str) -> dict[str, str]:
        """Of a person in an empty folder. What was downloaded once is not downloaded again."""
        keep = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        cache = self.folder / "cache"
        return {
            **keep,
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "HOME": str(home),
            "HANDRAIL_HOME": str(home / "home"),
            "HANDRAIL_NO_DAEMON": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_COMPILE": "1",
            "PIP_CONSTRAINT": str(self.constraints),
            "PIP_FIND_LINKS": str(self.dist),
            "UV_CONSTRAINT": str(self.constraints),
            "UV_FIND_LINKS": str(self.dist),
            "PIP_CACHE_DIR": str(cache / "pip"),
            "UV_CACHE_DIR": str(cache / "uv"),
            **more,
        }

    def run(self, *words: str | Path, cwd: Path, **more: str) -> str:
        done = self.attempt(*words, cwd=cwd, **more)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def show_demo(self, *program: str | Path, cwd: Path) -> None:
        """As a person runs it, so with a daemon; it has a home of its own and ends with the demo."""
        said = self.run(*program, "demo", cwd=cwd, HANDRAIL_NO_DAEMON="0")
        assert "The journal proves it" in said

    def attempt(self, *words: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=cwd, env=self.env(cwd, **more), capture_output=True, text=True, timeout=900
        )

    def environment(self, place: Path, *names: str) -> Path:
        """A new one with these names in it: its folder of programs."""
        venv.create(place / "venv", with_pip=True)
        bin_ = place / "venv" / "bin"
        self.run(bin_ / "pip", "install", "--quiet", *names, cwd=place)
        return bin_


def build(folder: Path) -> Built:
    """From a clean clone, so that nothing is in them by chance: an sdist first, then a wheel from it."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder / "clone"], check=True)
    for start in ("src/handrail", *(f"packages/{name}/src/handrail_{name}" for name in SATELLITES)):
        path = folder / "clone" / start / "__init__.py"
        path.write_text(path.read_text().replace(f'"{handrail.__version__}"', f'"{VERSION}"'))
    venv.create(folder / "tools", with_pip=True)
    pip = [folder / "tools" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "build", "twine", "uv", "pipx"], check=True)
    for part in (".", *(f"packages/{name}" for name in SATELLITES)):
        command = [
            folder / "tools" / "bin" / "pyproject-build",
            "--outdir",
            folder / "dist",
            folder / "clone" / part,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    own = [f"{name}=={VERSION}" for name in NAMES]
    built = Built(folder)
    built.constraints.write_text("\n".join([(ROOT / "constraints.txt").read_text(), *own, ""]))
    (folder / "ready").touch()
    return built
