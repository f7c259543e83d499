"""What is allowed: the reason against it, or None."""

from pathlib import Path

from django.conf import settings

ENDING = ".zip"


def target_refusal(target: Path) -> str | None:
    """Why no backup is written there, or None. A folder that is missing, such as a disk that is not mounted, would
    become a file; and a file of ours must not get the name of something that Karat makes.
    """
    if not target.is_dir() and target.suffix != ENDING:
        return f"There is no folder {target}. Make it, or name a file that ends in {ENDING}."
    if not target.is_dir() and not target.absolute().parent.is_dir():
        return f"There is no folder {target.absolute().parent}. Make it first."
    data_dir, place = Path(settings.DATA_DIR), target.resolve()
    if place.is_relative_to(data_dir) and not place.is_relative_to(data_dir / "backups"):
        return f"{target} is in the data directory itself. Choose a folder elsewhere, best on another disk."
    return None
