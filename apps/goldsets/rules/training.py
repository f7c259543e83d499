"""Reasons against steps with a training manifest, or None."""

from apps.accounts.models import Project
from apps.goldsets.models import TrainingManifest


def training_name_refusal(project: Project, name: str) -> str | None:
    """Why a training manifest cannot be called so."""
    if TrainingManifest.objects.filter(project=project, name=name, retired_at=None).exists():
        return f"There is a training manifest called “{name}” already. Choose another name, or retire that one."
    return None


def training_refusal(project: Project, name: str, digest: str) -> str | None:
    """Why a training manifest with these entries cannot be added."""
    same = TrainingManifest.objects.filter(project=project, digest=digest, retired_at=None).first()
    if same is not None:
        return f"“{same.name}” lists exactly the same and is in use. Nothing was added."
    return training_name_refusal(project, name)


def retire_training_refusal(manifest: TrainingManifest) -> str | None:
    if manifest.retired_at is not None:
        return f"“{manifest.name}” is retired already."
    return None
