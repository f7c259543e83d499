"""Everything that writes gold sets: versions, their slices and public releases, training manifests, and the log of
exports and looks."""

from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    ask_to_sign,
    decide_public_texts,
    log_public_download,
    log_public_look,
    prepare_again,
    prepare_public_release,
    publish_release,
    sign_public_release,
    withdraw_public_release,
)
from apps.goldsets.actions.signing import make_signing_key
from apps.goldsets.actions.slices import (
    SliceRefused,
    add_found,
    add_to_slice,
    make_rotating_slice,
)
from apps.goldsets.actions.training import TrainingRefused, add_training_manifest, retire_training_manifest
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
    "PublicReleaseRefused",
    "SliceRefused",
    "TrainingRefused",
    "VersionRefused",
    "add_found",
    "add_to_slice",
    "add_training_manifest",
    "ask_to_sign",
    "change_draft",
    "create_gold_set",
    "decide_public_texts",
    "discard_draft",
    "draft_version",
    "freeze_version",
    "log_export",
    "log_public_download",
    "log_public_look",
    "log_test_look",
    "make_rotating_slice",
    "make_signing_key",
    "prepare_again",
    "prepare_public_release",
    "publish_release",
    "release_version",
    "retire_training_manifest",
    "sign_public_release",
    "withdraw_public_release",
]
