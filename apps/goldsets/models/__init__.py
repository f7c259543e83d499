"""The rows of gold sets."""

from apps.goldsets.models.public import PublicLook, PublicPart, PublicRelease, PublicStay
from apps.goldsets.models.training import TrainingEntry, TrainingManifest
from apps.goldsets.models.versions import (
    GoldSet,
    SigningKey,
    Slice,
    SliceMember,
    Version,
    VersionGrade,
    VersionLoss,
    VersionQuery,
    VersionTriple,
    default_group_by,
)

__all__ = [
    "GoldSet",
    "PublicLook",
    "PublicPart",
    "PublicRelease",
    "PublicStay",
    "SigningKey",
    "Slice",
    "SliceMember",
    "TrainingEntry",
    "TrainingManifest",
    "Version",
    "VersionGrade",
    "VersionLoss",
    "VersionQuery",
    "VersionTriple",
    "default_group_by",
]
