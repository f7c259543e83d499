from django.db import models


class VersionState(models.TextChoices):
    DRAFT = "draft", "draft"
    FROZEN = "frozen", "frozen"
    RELEASED = "released", "released"
    SUPERSEDED = "superseded", "superseded"


class VersionStep(models.TextChoices):
    FREEZE = "freeze", "freeze"
    RELEASE = "release", "release"
    SUPERSEDE = "supersede", "supersede"


class Split(models.TextChoices):
    DEV = "dev", "dev"
    TEST = "test", "test"


MOST_SEED = 2**53 - 1
"""The largest seed of a split: the largest whole number that every JSON reader takes exactly."""


class SplitBy(models.TextChoices):
    """By what a draft chooses the groups that go to test."""

    GROUP = "group", "by group: a hash of the group and the seed decides"
    TIME = "time", "by time: the newest questions are in test"


class GroupBy(models.TextChoices):
    """What a split keeps together. Items with the same or nearly the same words are always together."""

    GROUP = "group", "queries with the same group, such as one customer or one month"
    DOCUMENT = "document", "queries and Q&As that one document answers, or nearly the same documents"
    RELEVANT = "relevant", "queries and Q&As for which one document is relevant at all, from grade 1 on"
    SOURCE = "source", "queries and Q&As from the same source"


class SliceKind(models.TextChoices):
    """What a slice is for. Its value is its name in gates, files and commands."""

    ROTATING = "rotating", "Rotating"
    CHALLENGE = "challenge", "Challenge"
    REGRESSION = "regression", "Regression"
    CANARY = "canary", "Canary"


GROWING = (SliceKind.CHALLENGE, SliceKind.REGRESSION, SliceKind.CANARY)
"""Slices that questions are added to. A rotating slice is drawn once and stays as it is."""


class BlockerKind(models.TextChoices):
    """What blocks a freeze, as the heading of the items concerned."""

    EMPTY = "empty", "nothing to freeze"
    UNRESOLVED = "unresolved", "unresolved grade"
    NOT_ACCEPTED = "not_accepted", "Q&A no longer accepted"
    STALE = "stale", "stale Q&A"
    MACHINE = "machine", "machine-written Q&A"
    PERMISSION = "permission", "source without permission"
    LEAK = "leak", "leak between dev and test"
    TRAINING = "training", "question in training and in test"
    CHECK = "check", "check of this project that is not met"


class EntryKind(models.TextChoices):
    """What an entry of a training manifest is."""

    QUESTION = "question", "id of a question"
    BLOCK = "block", "id of a passage"
    DOCUMENT = "document", "id of a document"
    TEXT = "text", "text hash"


class KnownBy(models.TextChoices):
    """By what a training manifest has a question."""

    ID = "id", "by its id"
    WORDS = "words", "by its words"
    PAIR = "pair", "by its words with those of a passage"


class LeadCheckKind(models.TextChoices):
    """A check of a draft that a project sets to one of `Answer`. Its value is the name of the policy."""

    RELEVANT = "freeze_relevant", "Each query has one to three relevant passages"
    CONFUSERS = "freeze_confusers", "Each query has ten strong confusers"
    STRATA = "freeze_strata", "Each domain, difficulty and query type has five queries"
    TERMS = "freeze_terms", "Each source may be used publicly"


class CheckLevel(models.TextChoices):
    """What a check that finds something does to a freeze."""

    WARN = "warn", "Warn"
    REFUSE = "refuse", "Refuse to freeze"
    OFF = "off", "Do not check"


class LossKind(models.TextChoices):
    """What a version leaves out."""

    QUERY = "query", "query"
    PAIR = "pair", "judged pair"


class LossReason(models.TextChoices):
    """Why a version leaves out a judged pair or query, as a sentence."""

    TEXT_CHANGED = "text_changed", "The text of the passage has changed in this snapshot."
    BLOCK_GONE = "block_gone", "The passage is not in this snapshot."
    QUERY_RETIRED = "query_retired", "The query is retired."
    RULED_OUT = "ruled_out", "A lead decided that it can’t be judged."
    NOT_CHOSEN = "not_chosen", "It was not judged in any chosen round."
    NOTHING_LEFT = "nothing_left", "None of its judged pairs or Q&As is left."


class PublicState(models.TextChoices):
    """Where a public release of a version stands."""

    PREPARING = "preparing", "being prepared"
    FAILED = "failed", "not prepared"
    PREPARED = "prepared", "prepared"
    SIGNED = "signed", "signed"
    RELEASED = "released", "released"
    WITHDRAWN = "withdrawn", "withdrawn"


class PublicStep(models.TextChoices):
    PREPARE = "prepare", "prepare"
    BUILD = "build", "build"
    FAIL = "fail", "fail"
    SIGN = "sign", "sign"
    RELEASE = "release", "release"
    WITHDRAW = "withdraw", "withdraw"


PREPARE_PUBLIC = "goldsets.prepare_public"
SIGN_PUBLIC = "goldsets.sign_public"
RELEASE_PUBLIC = "goldsets.release_public"
"""The kinds of job that build the files of a public release: to keep them, and to see whether they are still those."""


class StayKind(models.TextChoices):
    """What a public release keeps in, with a list of its own."""

    TRIPLES = "triples", "Q&As"
    QUERIES = "queries", "queries"
    PASSAGES = "passages", "passages"


class StayReason(models.TextChoices):
    """Why an item of a version stays in when the version goes out."""

    NO_SOURCE = "no_source", "No source is recorded"
    NO_PERMISSION = "no_permission", "Its source has no permission"
    REVOKED = "revoked", "Permission was revoked"
    EXPIRED = "expired", "Permission has run out"
    INTERNAL = "internal", "Permission says internal"
    CUSTOMER = "customer", "Customer’s material"
    SEALED = "sealed", "It is in the test split"
    PASSAGE = "passage", "Its passage stays in"
    NAME = "name", "A person’s name cannot be taken out"
    WORD = "word", "An internal word cannot be taken out"
    PERSONAL = "personal", "An address, a number or a token cannot be taken out"
    REDACTED = "redacted", "Its text was redacted"
    FEW_ASKED = "few_asked", "Too few people asked it in a search log"
    NOTHING_LEFT = "nothing_left", "None of its passages goes out"


CURES = {
    LossReason.TEXT_CHANGED: "Carry its grade along, or have it judged again, with the edition of this snapshot.",
    LossReason.BLOCK_GONE: "Nothing: older versions keep it. If the passage has another id now, take the edition.",
    LossReason.QUERY_RETIRED: "Nothing, unless the query was retired by mistake.",
    LossReason.RULED_OUT: "Decide the pair again in its round.",
    LossReason.NOT_CHOSEN: "Choose its round under Change.",
    LossReason.NOTHING_LEFT: "Bring back one of its pairs: see theirs.",
}
"""What can be done about each reason, before a version is frozen."""

CURE_OF_WAITING = "Finish that round; then the pair is in."
CURE_OF_POOLED = "Plan a round on that pool; once it is judged, the pair is in."
CURE_OF_EARLIER = "Carry its grade along, or have it judged again, with the edition of {name}, where it changed."
CURE_OF_EARLIER_GONE = "Nothing: older versions keep it. If it got another id in {name}, take the edition of it."
CURE_OF_TAKEN = "Choose it for a pool on this snapshot, and have it judged: {name} was taken without it."


SEND_GRADES = "goldsets.send_grades"
"""The kind of the job that sends grades to other servers, whose client is loaded with it alone."""
