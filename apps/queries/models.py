from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.queries.enums import Difficulty, PermissionScope, ReportState, SourceKind

CONVERSATION = "conversation"
"""The name in a query's metadata of the queries before it in a conversation."""
SET_PREFIX = "set:"
"""What the keys of query sets begin with; those of gold sets contain no colon."""

LONGEST_SLUG, LONGEST_NAME = 60, 120


class Source(models.Model):
    """The origin of queries, and the team's target for its share of the set."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="sources")
    slug = models.SlugField(max_length=LONGEST_SLUG)
    name = models.CharField(max_length=LONGEST_NAME)
    kind = models.CharField(max_length=20, choices=SourceKind.choices)
    target_share = models.FloatField(null=True, help_text="Share of the set aimed at, 0 to 1.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="source_slug_in_project"),
            models.CheckConstraint(name="source_kind_is_known", condition=Q(kind__in=SourceKind.values)),
            models.CheckConstraint(
                name="source_target_is_a_share",
                condition=Q(target_share=None) | Q(target_share__gte=0, target_share__lte=1),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Permission(models.Model):
    """The terms under which a source may be used. The latest permission that is not revoked counts."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="permissions")
    owner = models.CharField(max_length=200)
    scope = models.CharField(max_length=12, choices=PermissionScope.choices)
    evidence = models.TextField(blank=True, help_text="Contract, mail or policy that grants it.")
    licence = models.CharField(max_length=80, blank=True)
    granted_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    revocation_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="permission_scope_is_known", condition=Q(scope__in=PermissionScope.values)),
            models.CheckConstraint(
                name="permission_revoked_by_goes_with_revoked_at",
                condition=Q(revoked_at=None, revoked_by=None) | Q(revoked_at__isnull=False, revoked_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner}, {self.scope}"

    @property
    def dialog(self) -> str:
        """The id of the dialog that revokes it."""
        return f"revoke-{self.pk}"


class CuratedQueries(models.Manager["Query"]):
    """The queries that people curate: without those asked only for a Q&A."""

    def get_queryset(self) -> models.QuerySet["Query"]:
        return super().get_queryset().filter(is_asked=False)


class Query(models.Model):
    """An information need. Its words are fixed from the first run or grade on (`locked_at`), and its subtopics from the
    first judgement that names them (`facets_locked_at`).

    `objects` are the queries that people curate, for lists, counts and choices. `everything` has the asked questions
    of Q&As too, which systems answer as well: for runs, and wherever an outside id must be free.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="queries")
    outside_id = models.CharField(max_length=200)
    text = models.TextField()
    label = models.CharField(max_length=200, blank=True)
    intent = models.TextField(blank=True, help_text="What the asker needs, in a sentence or two.")
    description = models.TextField(blank=True)
    source = models.ForeignKey(Source, models.PROTECT, null=True, blank=True, related_name="queries")
    difficulty = models.CharField(max_length=10, choices=Difficulty.choices, blank=True)
    domain = models.CharField(max_length=80, blank=True)
    query_type = models.CharField(max_length=40, blank=True)
    group_key = models.CharField(max_length=120, blank=True, help_text="Entity or time group; a split keeps it whole.")
    expertise = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="What the asker knows of the subject already."
    )
    answer_format = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="What the answer should look like."
    )
    asked_on = models.CharField(
        max_length=10, blank=True, default="", db_default="", help_text="The day it is of, such as 2026-03-01."
    )
    tags = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    facets = models.JSONField(default=list, blank=True, help_text="Its subtopics in order: id and words of each.")
    facets_locked_at = models.DateTimeField(null=True, help_text="When a judgement first named its subtopics.")
    remarks = models.JSONField(
        default=dict, blank=True, help_text="What the checks found and nobody has settled: a sentence by check."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    locked_at = models.DateTimeField(null=True)
    retired_at = models.DateTimeField(null=True)
    retired_reason = models.CharField(max_length=200, blank=True)
    is_asked = models.BooleanField(
        default=False, db_default=False, help_text="The question of a Q&A that came from no query; no list shows it."
    )

    objects = CuratedQueries()
    everything: "models.Manager[Query]" = models.Manager()

    class Meta:
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["project", "outside_id"], name="query_id_in_project"),
            models.CheckConstraint(name="query_has_text", condition=~Q(text="")),
        ]
        indexes = [models.Index(fields=["project", "retired_at", "outside_id"])]

    def __str__(self) -> str:
        return self.outside_id

    @property
    def asked_before(self) -> list[str]:
        """What was asked before it in the conversation that it is from, the oldest first, with its masks."""
        told = self.metadata.get(CONVERSATION) if isinstance(self.metadata, dict) else None
        return [text for text in told if isinstance(text, str)] if isinstance(told, list) else []


IS_DECIDED = Q(decided_at__isnull=False, decided_by__isnull=False)


class FailureReport(models.Model):
    """A search that went wrong, as somebody reported it, with masks for what tells of a person.

    It becomes a query when a lead takes it; of a rejected one the words are deleted.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="failure_reports")
    text = models.TextField(blank=True, help_text="What was searched for.")
    expected = models.TextField(blank=True, help_text="What should have been found, in words.")
    passage = models.CharField(max_length=200, blank=True, help_text="Outside id of a passage that answers.")
    remarks = models.JSONField(default=dict, help_text="What the checks found: a sentence by check.")
    has_consent = models.BooleanField(help_text="The reporter lets the project keep the query.")
    reported_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reported_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=ReportState.choices, default=ReportState.OPEN)
    query = models.OneToOneField(Query, models.PROTECT, null=True, related_name="failure_report")
    reason = models.CharField(max_length=400, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="failure_report_has_consent", condition=Q(has_consent=True)),
            models.CheckConstraint(
                name="failure_report_state_goes_with_its_values",
                condition=Q(state=ReportState.OPEN, query=None, decided_at=None, decided_by=None) & ~Q(text="")
                | Q(state=ReportState.TAKEN, query__isnull=False) & IS_DECIDED
                | Q(state=ReportState.REJECTED, query=None, text="", expected="") & IS_DECIDED,
            ),
        ]
        indexes = [models.Index(fields=["project", "state", "reported_at"])]

    def __str__(self) -> str:
        return f"report {self.pk}"


class SavedSet(models.Model):
    """A query set: queries under a name. Those that match a filter, or once it is frozen a list that never changes.

    Files and the API write it `set:` and its slug.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="query_sets")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    filters = models.JSONField(default=dict, help_text="What a query has to match; only filters that are set.")
    drawn = models.JSONField(null=True, help_text="Of a sample: from which set (empty: all), how many, and the seed.")
    digest = models.CharField(max_length=64, blank=True, help_text="Over ids and texts, once it is frozen.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    frozen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="query_set_slug_in_project"),
            models.CheckConstraint(
                name="query_set_frozen_has_person_and_digest",
                condition=Q(frozen_at=None, frozen_by=None, digest="", drawn=None)
                | Q(frozen_at__isnull=False, frozen_by__isnull=False) & ~Q(digest=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        """As runs, pools, rounds, files and the API name it."""
        return f"{SET_PREFIX}{self.slug}"

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None


class SetMember(models.Model):
    """A query of a frozen set."""

    saved_set = models.ForeignKey(SavedSet, models.PROTECT, related_name="members")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["saved_set", "query"], name="set_member_once")]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.saved_set_id}"
