"""The shape of versions in the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.web.forms import ChoiceField, KeyField
from apps.goldsets import rules
from apps.goldsets.enums import MOST_SEED, GroupBy, Split, SplitBy
from apps.goldsets.formats.public.card import LICENCES, SECTIONS
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.rules import without_grades
from apps.goldsets.selectors import public

MOST_ROUNDS = 1_000


class VersionSerializer(serializers.Serializer):
    """A version with the facts of its manifest; `manifest` is empty for a draft. Request scores by `id`.

    To somebody who still judges the manifest says neither how many pairs have which grade nor what was graded anew
    (`is_blind` in the context).
    """

    id = serializers.IntegerField(source="pk")
    gold_set = serializers.CharField(source="gold_set.slug")
    version = serializers.CharField(source="label")
    number = serializers.IntegerField()
    numbered = serializers.SerializerMethodField(
        help_text="major.minor.patch by what changed; empty for a draft, and for somebody who still judges."
    )
    state = serializers.CharField()
    digest = serializers.CharField()
    snapshot = serializers.CharField(source="snapshot.name")
    snapshot_digest = serializers.CharField(source="snapshot.digest")
    frozen_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    manifest = serializers.SerializerMethodField()

    def get_numbered(self, version: Version) -> str:
        return "" if self.context["is_blind"] else version.numbered

    def get_manifest(self, version: Version) -> dict[str, Any]:
        return without_grades(version.manifest) if self.context["is_blind"] else version.manifest


class LossSerializer(serializers.Serializer):
    """A judged pair, or a query without block and grade, that a version leaves out."""

    kind = serializers.CharField(help_text="query or pair")
    query_id = serializers.CharField(source="query_name")
    block_id = serializers.CharField(source="block_name")
    grade = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(help_text="LossReason: text_changed, block_gone, query_retired and so on.")
    sentence = serializers.CharField()
    cure = serializers.CharField(help_text="What can be done about it, before a version is frozen.")


class PublicRequestSerializer(serializers.Serializer):
    """What people choose for a public release. Without a `card` the present one is kept, or Karat drafts one."""

    title = serializers.CharField(max_length=120)
    holder = serializers.CharField(max_length=120, allow_blank=True, default="", help_text="Who is credited.")
    licence = ChoiceField(choices=[one.key for one in LICENCES])
    splits = serializers.MultipleChoiceField(choices=Split.values, default={Split.DEV.value}, allow_empty=False)
    card = serializers.DictField(
        child=serializers.CharField(max_length=5_000, allow_blank=True, trim_whitespace=False),
        allow_null=True,
        default=None,
        help_text=f"Sections: {', '.join(section.key for section in SECTIONS)}.",
    )

    def validate_card(self, card: dict[str, str] | None) -> dict[str, str] | None:
        known = [section.key for section in SECTIONS]
        if unknown := sorted(set(card or ()) - set(known)):
            raise serializers.ValidationError(f"There is no section “{unknown[0][:40]}”. Use {', '.join(known)}.")
        return None if card is None else {name: card.get(name, "") for name in known}

    @property
    def order(self) -> Order:
        chosen = self.validated_data
        title, holder = (" ".join(chosen[name].split()) for name in ("title", "holder"))
        return Order(title, holder, chosen["licence"], tuple(sorted(chosen["splits"])), chosen["card"])


class AskRequestSerializer(serializers.Serializer):
    lead = serializers.IntegerField(min_value=1, help_text="The `id` of one of `leads`.")


class WithdrawRequestSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=2_000)


class PublicTextsRequestSerializer(serializers.Serializer):
    owner = serializers.CharField(
        default="", max_length=200, allow_blank=True, help_text="Whose texts these are and who lets them be published."
    )
    evidence = serializers.CharField(default="", allow_blank=True, help_text="Where that can be read.")
    public = serializers.BooleanField(default=True, help_text="False: they may not be published any more.")


class SaidSerializer(serializers.Serializer):
    owner = serializers.CharField()
    evidence = serializers.CharField()
    recorded_by = serializers.CharField(source="recorded_by.name")
    recorded_at = serializers.DateTimeField()


class PublicTextsSerializer(serializers.Serializer):
    """`said` is null where nobody says that the texts of the corpus may be published."""

    corpus = serializers.CharField(source="corpus.slug")
    said = SaidSerializer(allow_null=True)


class LeadSerializer(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class StayGroupSerializer(serializers.Serializer):
    """So many items of a kind that stay in for one reason."""

    kind = serializers.CharField(help_text="triples, queries or passages")
    reason = serializers.CharField()
    sentence = serializers.CharField()
    number = serializers.IntegerField()


class PublicReleaseSerializer(serializers.Serializer):
    """A public release. `report` counts what goes and stays; it is empty until the release is prepared."""

    id = serializers.IntegerField(source="pk")
    gold_set = serializers.CharField(source="version.gold_set.slug")
    version = serializers.CharField(source="version.label")
    state = serializers.CharField(help_text="preparing, failed, prepared, signed, released or withdrawn.")
    job = serializers.IntegerField(source="job_id", allow_null=True, help_text="The last job that built its files.")
    is_waiting = serializers.SerializerMethodField(help_text="Whether that job has not ended yet.")
    failure = serializers.SerializerMethodField(help_text="Why it is not prepared, not signed or not released.")
    title = serializers.CharField()
    holder = serializers.CharField()
    licence = serializers.CharField()
    splits = serializers.ListField(child=serializers.CharField())
    card = serializers.DictField(child=serializers.CharField())
    report = serializers.DictField()
    digest = serializers.CharField(help_text="SHA-256 of the zip file.")
    size = serializers.IntegerField()
    prepared_by = serializers.CharField(source="prepared_by.name")
    prepared_at = serializers.DateTimeField()
    asked = serializers.CharField(source="asked.name", default=None)
    signed_by = serializers.CharField(source="signed_by.name", default=None)
    signed_at = serializers.DateTimeField()
    released_by = serializers.CharField(source="released_by.name", default=None)
    released_at = serializers.DateTimeField()
    withdrawn_by = serializers.CharField(source="withdrawn_by.name", default=None)
    withdrawn_at = serializers.DateTimeField()
    withdrawal_reason = serializers.CharField()

    def get_is_waiting(self, release: PublicRelease) -> bool:
        return release.open_job is not None

    def get_failure(self, release: PublicRelease) -> str:
        return rules.failure_of(release)


class TextsRequestSerializer(serializers.Serializer):
    """Texts of the `hits` of a report, or texts that were allowed before; and what is decided about them."""

    texts = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=500)
    allowed = serializers.BooleanField()
    reason = serializers.CharField(max_length=500)


class PublicReleaseDetailSerializer(PublicReleaseSerializer):
    """The live release of a version, with what stays in, who may sign, and sources whose permission has ended."""

    stays = serializers.SerializerMethodField()
    leads = serializers.SerializerMethodField(help_text="Leads who may sign: those who did not prepare it.")
    ended = serializers.SerializerMethodField(help_text="Sources in its files that may not be published any more.")

    @extend_schema_field(StayGroupSerializer(many=True))
    def get_stays(self, release: PublicRelease) -> list[dict[str, Any]]:
        groups = public.stays_of(release) if release.is_built else {}
        return [
            {"kind": kind, "reason": group.reason, "sentence": group.reason.label, "number": group.number}
            for kind, of_kind in groups.items()
            for group in of_kind
        ]

    @extend_schema_field(LeadSerializer(many=True))
    def get_leads(self, release: PublicRelease) -> list[dict[str, Any]]:
        return list(LeadSerializer(public.other_leads(release), many=True).data)

    def get_ended(self, release: PublicRelease) -> list[str]:
        return public.no_longer_public(release, at=self.context["at"]) if release.is_built else []


class StaySerializer(serializers.Serializer):
    """An item that stays in."""

    kind = serializers.CharField()
    name = serializers.CharField(help_text="The id of a query or passage, the label of a Q&A.")
    reason = serializers.CharField()
    sentence = serializers.CharField(source="get_reason_display")
    detail = serializers.CharField(help_text="The source, or the word that was found.")


class PreviewLineSerializer(serializers.Serializer):
    """A field. `kept` goes out as it is; `struck` is left out, and `inserted` takes its place. Values are JSON."""

    name = serializers.CharField()
    kept = serializers.CharField()
    struck = serializers.CharField()
    inserted = serializers.CharField()


class PreviewSerializer(serializers.Serializer):
    """The record with this number, from 1, of `total`."""

    kind = serializers.CharField()
    number = serializers.IntegerField()
    total = serializers.IntegerField()
    lines = PreviewLineSerializer(many=True)


# The way to a release ------------------------------------------------------------------------------------------------


class GoldSetRequestSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(max_length=2_000, default="", allow_blank=True)


class GoldSetSerializer(serializers.Serializer):
    """A gold set; its versions are in the list of versions."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()


class DraftChangeSerializer(serializers.Serializer):
    """What a version is cut from. What is left out stays as it is."""

    snapshot = serializers.CharField(
        max_length=200, required=False, help_text="Its name, such as handbook@1, or its digest."
    )
    rounds = serializers.ListField(
        child=KeyField(),
        max_length=MOST_ROUNDS,
        required=False,
        help_text="Ids of judging rounds. If two judged the same pair, the later one counts.",
    )
    test_share = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        help_text="A target. At first 0.5, or 0 where there are few questions.",
    )
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, required=False)
    group_by = serializers.ListField(
        child=ChoiceField(choices=GroupBy.choices), max_length=len(GroupBy.values), required=False
    )
    split_by = ChoiceField(choices=SplitBy.choices, required=False)
    note = serializers.CharField(max_length=2_000, required=False, allow_blank=True)


class DraftRequestSerializer(DraftChangeSerializer):
    """What a version is cut from; snapshot and rounds have to be named, the list of rounds may be empty."""

    snapshot = serializers.CharField(max_length=200, help_text="Its name, such as handbook@1, or its digest.")
    rounds = serializers.ListField(child=KeyField(), max_length=MOST_ROUNDS)


class FreezeRequestSerializer(serializers.Serializer):
    changelog = serializers.CharField(
        max_length=10_000,
        default="",
        allow_blank=True,
        help_text="What changed since the version before; drafted from what changed when it is left out.",
    )


class BlockerSerializer(serializers.Serializer):
    """A reason against a freeze."""

    kind = serializers.CharField()
    sentence = serializers.CharField()


class BlockersSerializer(serializers.Serializer):
    blockers = BlockerSerializer(many=True)
