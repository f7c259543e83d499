"""Proof that a backup can be restored: it is, into a scratch place, by other processes, and everything is compared."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from apps.audit.execution.signed_checkpoints import OTHER_KEY
from apps.common.errors import Refusal

ELSEWHERE = ("DATABASE_URL", "KARAT_PRODUCTION", "KARAT_HTTPS", "KARAT_AUDIT_HEADS", "KARAT_MODELS_DIR", "KARAT_STORE")
"""Settings of this server that would lead a process out of the scratch place."""


SCRATCH = "karat-verify-"
"""Names of scratch places begin so."""
IN_USE = "in-use"
"""A file in a scratch place, locked by who uses it and by the processes that they start. The system unlocks it when
all of them have ended, so what a signal has left behind is known from what is in use."""


class Verified(NamedTuple):
    """What was found intact in a restored backup."""

    chains: int
    links: int

    def __str__(self) -> str:
        return f"Verified: restored, every digest the same, {self.links:,} links in {self.chains} audit chains intact."


def scratch_beside(path: Path | str) -> Path:
    """Where a backup is restored to verify it: beside it, or in the data directory if it is in a bucket."""
    if not isinstance(path, str):
        return path.parent
    folder = Path(settings.DATA_DIR) / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def remove_abandoned(folder: Path) -> None:
    """Remove the scratch places in this folder that nobody uses any more."""
    for scratch in folder.glob(f"{SCRATCH}*"):
        with suppress(OSError), (scratch / IN_USE).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _scratch_place(folder: Path | None) -> Iterator[tuple[Path, int]]:
    """A folder for the block, and the file whose lock says that it is in use."""
    remove_abandoned(Path(folder or tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as name, (Path(name) / IN_USE).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name), lock.fileno()


def verify_backup(path: Path | str, *, passphrase: str = "", scratch: Path | None = None) -> Verified:
    """Restore a backup into a temporary folder in `scratch`, compare every digest, and verify the audit chains.

    The heads of the chains are verified with the key in the backup, if there is a passphrase for it, else with that of
    this server. Raises Refusal where it cannot be restored, or where something in it does not hold.
    """
    if scratch is not None and not scratch.is_dir():
        raise Refusal(f"There is no folder {scratch}. Make it first.", code="backup_not_verified")
    with _scratch_place(scratch) as (place, lock):
        folder = str(place / "data")
        env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
        env |= {"KARAT_DATA_DIR": folder, "KARAT_BACKUP_PASSPHRASE": passphrase}
        for variable in ("SECRET_KEY", "KARAT_AUDIT_KEY"):
            env.pop(variable, None)
        secrets = [] if passphrase else ["--without-secrets"]
        restored = _karat(
            [
                "restore",
                path if isinstance(path, str) else str(path.resolve()),
                "--without-search",
                *secrets,
                "--data-dir",
                folder,
            ],
            env,
            lock,
        )
        if restored.returncode:
            raise Refusal(restored.stderr.strip().splitlines()[-1], code="backup_not_restored")
        if not passphrase:
            env["KARAT_AUDIT_KEY"] = settings.AUDIT_KEY
        checked = _karat(["verify-audit", "--format", "json"], env, lock)
        if not checked.stdout:
            raise Refusal(checked.stderr.strip(), code="backup_not_verified")
        return _verified(json.loads(checked.stdout))


def _karat(arguments: list[str], env: dict[str, str], lock: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "apps.config.commandline", *arguments]
    return subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, pass_fds=[lock])


def _verified(chains: list[dict]) -> Verified:
    broken = [f"{chain['name']}: {chain['broken']['reason']}" for chain in chains if chain["broken"]]
    faults = [f"{chain['name']}: {fault}" for chain in chains for fault in chain["faults"]]
    if broken and not faults and all(chain["broken"]["reason"] == OTHER_KEY for chain in chains if chain["broken"]):
        raise Refusal(
            "The backup can be restored, and every digest is the same. The heads of history are signed with the key of "
            "another server: run this with the KARAT_DATA_DIR of the server that made it, or, if its keys are in it, "
            "with --passphrase-file.",
            code="backup_of_another_server",
        )
    if broken + faults:
        sentences = "\n".join(broken + faults)
        raise Refusal(f"The backup can be restored, but this does not hold in it:\n{sentences}", code="backup_broken")
    return Verified(len(chains), sum(chain["links"] for chain in chains))
