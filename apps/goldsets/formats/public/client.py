"""The command line that travels with a public release: one file that Python runs, and the packages it needs.

A name on a package index can be anybody's. What a release tells people to run is therefore inside it, byte for
byte, and what it takes from an index is named by digest.
"""

from __future__ import annotations

import ast
import io
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import apps
from apps.goldsets.formats.zipping import write_zip

CLIENT = "client/karat.pyz"
REQUIREMENTS = "client/requirements.txt"
PACKAGES = "client/packages"
NEEDED = ("numpy", "pyyaml", "scipy", "urllib3")
"""The packages that `karat eval` cannot do without; `karat verify` needs Python alone."""
ROOT = Path(apps.__path__[0]).resolve().parent
ENTRY = ("apps/config/__init__.py", "apps/config/commandline.py")
COMMANDS = "apps/cli"
DATA = ("apps/reports/formats/report.css",)
MAIN = b'''"""Karat's commands that need no server. Packages are found in the folder `packages` beside this file."""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(sys.argv[0]).resolve().parent / "packages"))

from apps.config.commandline import main

sys.exit(main())
'''


@cache
def client_bytes() -> bytes:
    """The zipapp: `apps.cli` with all that it imports, and the entry of the command line. Always the same bytes."""
    files = {"__main__.py": MAIN} | {path: (ROOT / path).read_bytes() for path in {*_modules(), *ENTRY, *DATA}}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{name.replace('-', '_')}-{version}.dist-info/METADATA"] = metadata.encode()
    stream = io.BytesIO()
    write_zip([(name, len(data)) for name, data in files.items()], lambda name: io.BytesIO(files[name]), stream)
    return stream.getvalue()


@cache
def requirements_bytes() -> bytes:
    """The needed packages with the digests of their files, as the lock file of this Karat has them."""
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text())
    return "".join(f"{block.rstrip()}\n" for block in blocks if block.partition("==")[0] in NEEDED).encode()


def _modules() -> set[str]:
    """The paths of the modules of `apps.cli` and of all that they import, wherever in them the import stands."""
    found: set[str] = set()
    waiting = [path.relative_to(ROOT) for path in (ROOT / COMMANDS).rglob("*.py")]
    while waiting:
        path = waiting.pop()
        if path.as_posix() not in found:
            found.add(path.as_posix())
            waiting += [folder / "__init__.py" for folder in path.parents if folder.parts]
            waiting += [known for name in _imports(path) if (known := _path_of(name))]
    return found


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _path_of(module: str) -> Path | None:
    if module.split(".")[0] != "apps":
        return None
    path = Path(*module.split("."))
    known = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in known if (ROOT / one).is_file()), None)
