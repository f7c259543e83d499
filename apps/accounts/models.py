from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import DatabaseError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Cast, Length, Lower
from django.db.models.lookups import Exact

from apps.accounts.enums import Role, Scope
from apps.common.web.outages import outage_of

PLACEHOLDER_DOMAIN = "@raters.invalid"


def is_small_ascii(name: str) -> Q:
    """Whether a text has small letters only, and as many bytes as letters, which is the same for either database."""
    return Q(Exact(F(name), Lower(name))) & Q(Exact(Length(name), Length(Cast(name, models.BinaryField()))))


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=username)


class User(AbstractBaseUser):
    """A person. Never deleted: deactivated people keep their rows and their name in history."""

    email = models.EmailField("e-mail address", unique=True)
    name = models.CharField(max_length=120)
    is_active = models.BooleanField(default=True)
    is_operator = models.BooleanField(default=False, help_text="May make projects and invite their first lead.")
    time_zone = models.CharField(max_length=64, default="UTC")
    created_at = models.DateTimeField()
    deactivated_at = models.DateTimeField(null=True, blank=True)

    objects = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="user_deactivated_at_goes_with_is_active",
                condition=Q(is_active=True, deactivated_at=None) | Q(is_active=False, deactivated_at__isnull=False),
            ),
            models.CheckConstraint(name="user_email_is_small_ascii", condition=is_small_ascii("email")),
        ]

    def __str__(self) -> str:
        return self.name or self.email

    def check_password(self, raw_password: str | None) -> bool:
        """Whether the password is right. If so, replace an outdated hash, if the database can be written to."""

        def renew(password: str | None) -> None:
            was = self.password
            self.set_password(password)
            try:
                with transaction.atomic():
                    self.save(update_fields=["password"])
            except DatabaseError as problem:
                self.password = was
                if outage_of(problem) is None:
                    raise

        return check_password(raw_password, self.password, renew)

    @property
    def is_placeholder(self) -> bool:
        """Whether this is only a name in an imported file, who can never sign in."""
        return self.email.endswith(PLACEHOLDER_DOMAIN)


def default_scale() -> list[dict]:
    return [
        {"grade": 0, "name": "Not relevant", "hint": "Does not help"},
        {"grade": 1, "name": "Related", "hint": "Same subject only"},
        {"grade": 2, "name": "Answers part", "hint": "Part of the answer, more is needed"},
        {"grade": 3, "name": "Answers all", "hint": "Needs nothing more"},
    ]


def default_policies() -> dict:
    return {
        "copied_run_limit": 6,
        "near_duplicate_limit": 0.85,
        "calibrating_reviews": 20,
        "regression_bar": 0.1,
        "test_step": None,
        "refresh_months": 0,
        "source_targets": {},
        "balance_targets": {},
        "lit_terms": True,
        "blocking_checks": [],
        "query_personal": "block",
        "query_duplicate": "warn",
        "query_copied": "warn",
        "query_stop_words": "warn",
        "query_language": "warn",
        "review_assignment": "load",
        "review_lease_hours": 48,
        "review_guideline": "",
        "escalation_days": 7,
        "leads_decide_own": False,
        "dispute_days": 3,
        "calibration_reviews": 20,
        "calibration_items": 8,
        "skipped_steps": [],
        "freeze_relevant": "warn",
        "freeze_confusers": "warn",
        "freeze_strata": "warn",
        "freeze_terms": "off",
        "internal_words": "",
        "acronyms": "",
        "terms": "",
        "allowed_public": [],
        "date_field": "date",
        "type_field": "type",
        "provider_field": "provider",
        "audience_field": "audience",
        "agents_may_work": True,
    }


class ProjectQuerySet(models.QuerySet["Project"]):
    def not_deleted(self) -> "ProjectQuerySet":
        """Those that nobody has asked to delete."""
        return self.exclude(pk__in=ProjectDeletion.objects.values("project"))


class Project(models.Model):
    """The unit of access: everything belongs to exactly one project, and nothing is visible across projects."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    scale = models.JSONField(default=default_scale, help_text="Grades from 0 up, each with name and hint.")
    policies = models.JSONField(default=default_policies)
    is_demo = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    archived_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    archived_at = models.DateTimeField(null=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="project_archived_by_goes_with_archived_at",
                condition=Q(archived_by=None, archived_at=None)
                | Q(archived_by__isnull=False, archived_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def grades(self) -> list[int]:
        return [entry["grade"] for entry in self.scale]


class ProjectDeletion(models.Model):
    """That a project is deleted, or was: what is left of it. Never deleted, and changed only while it is under way.

    From the moment when this is written until `finished_at` the database lets the project's rows be deleted. `links`
    and `head` are those of its audit chain, before that went too. The key has no constraint: the project goes.
    """

    project = models.OneToOneField(Project, models.DO_NOTHING, db_constraint=False, related_name="deletion")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    counts = models.JSONField(default=dict, help_text="What was in it, when somebody asked.")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()
    links = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True, default="")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="project_deletion_ends_with_the_head_noted", condition=Q(finished_at=None) | ~Q(head="")
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def live(self) -> "MembershipQuerySet":
        return self.filter(ended_at=None)


class Membership(models.Model):
    """One role of one person in one project. A person may have several; an ended one stays as history."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user", "role"], condition=Q(ended_at=None), name="membership_one_live_role"
            ),
            models.CheckConstraint(name="membership_role_is_known", condition=Q(role__in=Role.values)),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} in {self.project}"


class Invitation(models.Model):
    """A single-use link to join. Only the digest of its token is stored; the link is shown once."""

    project = models.ForeignKey(Project, models.PROTECT, null=True, related_name="invitations")
    name = models.CharField(max_length=120, blank=True, default="", help_text="As the lead wrote it.")
    email = models.EmailField(blank=True)
    roles = models.JSONField(default=list)
    makes_operator = models.BooleanField(default=False)
    token_digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="invitation_used_by_goes_with_used_at",
                condition=Q(used_by=None, used_at=None) | Q(used_by__isnull=False, used_at__isnull=False),
            ),
            models.CheckConstraint(name="invitation_email_is_small_ascii", condition=is_small_ascii("email")),
            models.CheckConstraint(
                name="invitation_expires_after_it_is_made", condition=Q(expires_at__gt=F("created_at"))
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class PasswordReset(models.Model):
    """A single-use link to choose a new password. Only the digest of its token is stored.

    `created_by` is the operator who made it; empty when the person requested it by mail.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    token_digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="reset_expires_after_it_is_made", condition=Q(expires_at__gt=F("created_at"))),
            models.CheckConstraint(name="reset_used_or_revoked", condition=Q(used_at=None) | Q(revoked_at=None)),
            models.UniqueConstraint(
                fields=["user"], condition=Q(used_at=None, revoked_at=None), name="reset_one_open_link"
            ),
        ]
        indexes = [models.Index(fields=["user", "created_at"], name="reset_of_user")]

    def __str__(self) -> str:
        return f"password reset {self.pk}"


class Identity(models.Model):
    """Who a person is at a provider of single sign-on: its issuer and the subject, never an e-mail address."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    linked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_is_of_one_person"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_one_for_each_issuer"),
            models.CheckConstraint(name="identity_is_named", condition=~Q(issuer="") & ~Q(subject="")),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class UsedState(models.Model):
    """The digest of a state with which a browser has come back from the provider: none is taken twice."""

    state_digest = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"state used at {self.at:%Y-%m-%d %H:%M}"


class Visit(models.Model):
    """A session of somebody who is signed in: where and when it began, and when it was used last.

    It goes with its session: whoever ends it deletes that. `last_used_at` is a few minutes late at most.
    """

    session = models.OneToOneField("sessions.Session", models.CASCADE, related_name="visit")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="visits")
    began_at = models.DateTimeField()
    last_used_at = models.DateTimeField()
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=80, blank=True, help_text="As the browser calls itself, such as Firefox.")

    def __str__(self) -> str:
        return f"visit of {self.user_id} since {self.began_at:%Y-%m-%d %H:%M}"


class ApiToken(models.Model):
    """A machine's key, stored as a digest. People see `prefix` to distinguish tokens."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="tokens")
    project = models.ForeignKey(Project, models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_of_agent(self) -> bool:
        return Scope.AGENT in self.scopes


class Secret(models.Model):
    """A credential of a project for another service. `sealed` can only be decrypted with the server's SECRET_KEY."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    sealed = models.BinaryField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="secret_name_in_project")]

    def __str__(self) -> str:
        return self.name


class LoginAttempt(models.Model):
    """One failed attempt to sign in, stored to limit guessing per account and per address without a cache.

    `device` is the browser when the account had signed in there before; "" for strangers.
    """

    account = models.CharField(max_length=254, db_index=True)
    address = models.GenericIPAddressField(null=True, db_index=True)
    device = models.CharField(max_length=32, blank=True, default="")
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.account} at {self.at:%Y-%m-%d %H:%M}"
