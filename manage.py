#!/usr/bin/env python3
"""Karat's one entry point: `python3 manage.py up`, `python3 manage.py test`, and every other `karat` command.

Needs nothing but Python: when the packages are missing it makes `.venv`, installs what the lock files name, checks
every hash, and starts itself again in there.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Karat needs Python 3.11 or newer; this is Python %d.%d.\n"
        "Install a newer one (on Debian or Ubuntu: apt install python3.11 python3.11-venv) and run this command with "
        "it, for example: python3.11 manage.py up" % sys.version_info[:2]
    )

import hashlib
import os
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "karat-lock"
TOOLS = "requirements-setup.lock"
LOCKS = {"run": [TOOLS, "requirements.lock"], "test": [TOOLS, "requirements-dev.lock"]}
FAULT = 2


def main(arguments: list[str]) -> int:
    kind = "test" if arguments[:1] == ["test"] else "run"
    wants_setup = "--no-setup" not in arguments
    arguments = [argument for argument in arguments if argument != "--no-setup"]
    if wants_setup and not is_ready(kind):
        set_up(kind)
    if owns_environment() and not runs_inside():
        os.execv(PYTHON, [str(PYTHON), str(ROOT / "manage.py"), *arguments, "--no-setup"])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    sys.path.insert(0, str(ROOT))
    from apps.config.commandline import main as karat

    return karat(arguments)


def runs_inside() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def owns_environment() -> bool:
    """Whether `.venv` is ours to use: an image or a developer may bring the packages some other way."""
    return PYTHON.exists() and STAMP.exists()


def is_ready(kind: str) -> bool:
    if STAMP.exists():
        synced = STAMP.read_text().split()
        return digest_of(kind) in synced or (kind == "run" and digest_of("test") in synced)
    return not VENV.exists() and can_import("django" if kind == "run" else "pytest_django")


def can_import(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def digest_of(kind: str) -> str:
    """Of everything an environment is made from: the packages, and the commands that pyproject.toml names."""
    digest = hashlib.sha256(kind.encode())
    for name in (*LOCKS[kind], "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def set_up(kind: str) -> None:
    what = "the packages it runs with" if kind == "run" else "the packages it is tested with"
    print(f"Karat sets itself up in {VENV}: {what}. This happens once.", file=sys.stderr)
    make_environment()
    uv = BIN / "uv"
    if not uv.exists():
        run([PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", TOOLS])
    quiet = [uv, "pip", "sync", "--quiet", "--require-hashes", "--python", PYTHON, *LOCKS[kind]]
    if subprocess.run(quiet, cwd=ROOT, stderr=subprocess.DEVNULL).returncode:
        # Behind a private certificate authority uv has to be told to trust the system's certificates.
        run([uv, "--system-certs", *quiet[1:]])
    install = [uv, "pip", "install", "--quiet", "--python", PYTHON, "--offline", "--no-deps"]
    run([*install, "--no-build-isolation", "--editable", ROOT])
    STAMP.write_text(digest_of(kind) + "\n")


def make_environment() -> None:
    if PYTHON.exists():
        return
    try:
        venv.create(VENV, with_pip=True)
    except PermissionError:
        fail(f"{ROOT} cannot be written to. Copy Karat to a folder of your own, or run it as its owner.")
    except (subprocess.CalledProcessError, OSError) as error:
        fail(
            f"Python could not make the environment {VENV} ({error}).\n"
            "On Debian or Ubuntu install the missing part with: apt install python3-venv"
        )


def run(command: list) -> None:
    done = subprocess.run([str(part) for part in command], cwd=ROOT)
    if done.returncode:
        fail(
            f"This step failed: {' '.join(str(part) for part in command)}\n"
            "Its reason stands above. Check the network or the package index that pip is set to, then run the same "
            "command again; it goes on where it stopped."
        )


def fail(sentence: str) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(FAULT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
