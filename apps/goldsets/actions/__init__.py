"""Everything that writes gold sets: versions, their slices, and the log of exports and looks."""

from apps.goldsets.actions.signing import make_signing_key
from apps.goldsets.actions.slices import (
    SliceRefused,
    add_found,
    add_to_slice,
    make_rotating_slice,
)
from apps.goldsets.actions.versions import (
    GoldSetRefused,
    VersionRefused,
    change_draft,
    create_gold_set,
    discard_draft,
    draft_version,
    freeze_version,
    log_export,
    log_test_look,
    release_version,
)

__all__ = [
    "GoldSetRefused",
    "SliceRefused",
    "VersionRefused",
    "add_found",
    "add_to_slice",
    "change_draft",
    "create_gold_set",
    "discard_draft",
    "draft_version",
    "freeze_version",
    "log_export",
    "log_test_look",
    "make_rotating_slice",
    "make_signing_key",
    "release_version",
]
