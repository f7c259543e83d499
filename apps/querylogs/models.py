from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.queries.models import Query, Source
from apps.querylogs.enums import Band, OfferState, Outcome, Plan


class QueryLog(models.Model):
    """A search log from which queries were drawn: its counts, and how it was drawn. Its file is gone.

    `figures` has the searches counted and left out, how often each kind was masked, and the strata of the sample.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="query_logs")
    source = models.ForeignKey(Source, models.PROTECT, related_name="query_logs")
    name = models.CharField(max_length=120)
    least_people = models.PositiveSmallIntegerField(help_text="Queries of fewer people are only counted.")
    plan = models.CharField(max_length=10, choices=Plan.choices)
    seed = models.PositiveIntegerField()
    figures = models.JSONField()
    expires_at = models.DateTimeField(help_text="When queries that nobody has read are deleted.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="query_log_plan_is_known", condition=Q(plan__in=Plan.values)),
            models.CheckConstraint(name="query_log_people_are_some", condition=Q(least_people__gte=1)),
        ]

    def __str__(self) -> str:
        return self.name


class OfferedQuery(models.Model):
    """A query drawn from a log, with its masks: read by a person, who decides whether it enters the project.

    `chance` is its probability to be drawn. `text` is deleted with the decision after its own, which can be undone
    until then, or when the log is closed.
    """

    log = models.ForeignKey(QueryLog, models.PROTECT, related_name="offered")
    position = models.PositiveIntegerField(help_text="In the order drawn, from 1.")
    text = models.TextField(blank=True)
    masks = models.JSONField(default=list)
    spellings = models.PositiveIntegerField(default=1)
    band = models.CharField(max_length=8, choices=Band.choices)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    searches = models.PositiveIntegerField()
    people = models.PositiveIntegerField()
    nothing = models.PositiveIntegerField(help_text="Searches that found nothing.")
    again = models.PositiveIntegerField(help_text="People who searched for something else within two minutes.")
    clicks = models.PositiveIntegerField()
    clicked = models.JSONField(default=list, help_text="Ids of documents that people clicked, most clicked first.")
    doubts = models.JSONField(default=list, help_text="Words that no passage has: they may be names.")
    first_week = models.DateField(null=True)
    last_week = models.DateField(null=True)
    chance = models.FloatField()
    history = models.JSONField(default=list, help_text="What was asked before it in a conversation, masked.")
    returned = models.JSONField(
        default=dict, help_text="What each system returned: ids that are known here, and masked texts."
    )
    state = models.CharField(max_length=10, choices=OfferState.choices, default=OfferState.WAITING)
    query = models.ForeignKey(Query, models.PROTECT, null=True, related_name="offered")
    note = models.CharField(max_length=400, blank=True)
    is_edited = models.BooleanField(default=False)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["log", "position"], name="offered_query_position_in_log"),
            models.CheckConstraint(name="offered_query_state_is_known", condition=Q(state__in=OfferState.values)),
            models.CheckConstraint(name="offered_query_band_is_known", condition=Q(band__in=Band.values)),
            models.CheckConstraint(name="offered_query_outcome_is_known", condition=Q(outcome__in=Outcome.values)),
            models.CheckConstraint(name="offered_query_has_a_chance", condition=Q(chance__gt=0, chance__lte=1)),
            models.CheckConstraint(
                name="offered_query_waits_with_text", condition=~Q(state=OfferState.WAITING, text="")
            ),
            models.CheckConstraint(
                name="offered_query_forgets_with_its_text",
                condition=~Q(text="") | Q(history=[], returned={}) | Q(state=OfferState.KEPT),
            ),
            models.CheckConstraint(
                name="offered_query_leads_to_a_query",
                condition=Q(state__in=[OfferState.KEPT, OfferState.SAME], query__isnull=False)
                | (~Q(state__in=[OfferState.KEPT, OfferState.SAME]) & Q(query=None)),
            ),
            models.CheckConstraint(
                name="offered_query_decided_by_goes_with_decided_at",
                condition=Q(decided_at=None, decided_by=None)
                | Q(decided_at__isnull=False, decided_by__isnull=False)
                | Q(state=OfferState.EXPIRED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.log}, {self.position}"


class MaskedName(models.Model):
    """A name that is masked in every search log of the project, such as that of a customer."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="masked_names")
    name = models.CharField(max_length=120)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="masked_name_in_project"),
            models.CheckConstraint(name="masked_name_is_not_empty", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name
