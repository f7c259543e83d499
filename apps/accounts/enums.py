from django.db import models


class Role(models.TextChoices):
    """What a person may do in a project. Rules also depend on what somebody did to an item, not only on roles."""

    ANNOTATOR = "annotator", "annotator"
    REVIEWER = "reviewer", "reviewer"
    LEAD = "lead", "lead"
    VIEWER = "viewer", "viewer"


class Scope(models.TextChoices):
    """What a token may do; a token never does more than its owner may."""

    CORPUS_READ = "corpus:read", "read snapshots, passages and queries"
    CORPUS_WRITE = "corpus:write", "import passages and queries, freeze snapshots, redact, keep queries and sources"
    FAILURES_WRITE = "failures:write", "report searches that went wrong"
    TRACES_WRITE = "traces:write", "send traces of searches"
    RUNS_READ = "runs:read", "read runs, pools and scores"
    RUNS_WRITE = "runs:write", "push runs and request scores"
    VERSIONS_READ = "versions:read", "read and export gold versions"
    VERSIONS_WRITE = "versions:write", "draft, freeze and release gold versions, and their public releases"
    JUDGING_WRITE = "judging:write", "read own pairs, send grades and import judgements"
    ROUNDS_WRITE = "rounds:write", "plan judging rounds, publish guidelines, decide grades and close rounds"
    TRIPLES_WRITE = "triples:write", "write, import and retire Q&As and propose passages for them"
    REVIEW_WRITE = "review:write", "read own reviews and send verdicts"
    PEOPLE_READ = "people:read", "read members and open invitations"
    PEOPLE_WRITE = "people:write", "invite people, withdraw invitations and set roles, but make nobody a lead"
    SETTINGS_READ = "settings:read", "read the settings of the project"
    SETTINGS_WRITE = "settings:write", "change the settings and grades, archive the project and bring it back"
    JOBS_READ = "jobs:read", "follow jobs"
    NOTIFICATIONS = "notifications", "read own notifications and mark them as read"
    AGENT = "agent", "be an agent's: it works at /mcp and nowhere else, and grades, decides and signs nothing"
