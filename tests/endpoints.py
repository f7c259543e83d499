"""Every endpoint of Karat, the methods it answers, and who may use them. `test_matrix.py` walks this table.

An endpoint that the resolver knows and this table does not fails the test: whoever adds one says here who may use it.
"""

from typing import NamedTuple

STANDINGS = ("anonymous", "stranger", "former", "viewer", "annotator", "reviewer", "lead", "other_lead", "operator")
NOBODY: frozenset[str] = frozenset()
ANYBODY = frozenset(STANDINGS)
SIGNED_IN = ANYBODY - {"anonymous"}
OPERATORS = frozenset({"operator"})
MEMBERS = frozenset({"viewer", "annotator", "reviewer", "lead"})
LEADS = frozenset({"lead"})
WATCHERS = frozenset({"lead", "viewer"})
WRITERS = frozenset({"lead", "annotator"})
WORKERS = frozenset({"lead", "annotator", "reviewer"})
ANNOTATORS = frozenset({"annotator"})
REVIEWERS = frozenset({"reviewer"})
DONE_JUDGING = MEMBERS - ANNOTATORS
"""Every member once their own judging is over. The annotator that the matrix asks as is still judging."""
DONE_ANSWERING = DONE_JUDGING - REVIEWERS
"""The same where reviews count too. The reviewer that the matrix asks as is asked about a Q&A."""


class Endpoint(NamedTuple):
    """Who may GET and who may POST; None where the method is not answered (405)."""

    get: frozenset[str] | None = None
    post: frozenset[str] | None = None


Rows = dict[str, Endpoint]


def rows(endpoint: Endpoint, names: str) -> Rows:
    return dict.fromkeys(names.split(), endpoint)


def read(who: frozenset[str], names: str) -> Rows:
    return rows(Endpoint(get=who), names)


def write(who: frozenset[str], names: str) -> Rows:
    return rows(Endpoint(post=who), names)


def form(who: frozenset[str], names: str) -> Rows:
    """Read and sent by the same people."""
    return rows(Endpoint(who, who), names)


def read_and_write(readers: frozenset[str], writers: frozenset[str], names: str) -> Rows:
    """Read by some, added to by others."""
    return rows(Endpoint(readers, writers), names)


RIGHTS: dict[str, Rows] = {
    "": read(ANYBODY, "healthz readyz metrics"),
    "dashboard": {
        **read(SIGNED_IN, "start projects manual manual-file"),
        **read(MEMBERS, "home search"),
        **read(OPERATORS, "server"),
        **form(LEADS, "settings delete"),
        **write(OPERATORS, "load-demo check-server measure-server clear-storage back-up send-mail test-mail"),
        **write(LEADS, "archive bring-back skip-step judge-myself"),
    },
    "server-webhook": {
        **read(OPERATORS, "deliveries"),
        **write(OPERATORS, "try send-again"),
    },
    "accounts": {
        **read(ANYBODY, "sso sso-return"),
        **read(OPERATORS, "people"),
        **form(ANYBODY, "login setup join password-reset reset"),
        **form(SIGNED_IN, "profile"),
        **form(OPERATORS, "new-project leave"),
        **write(ANYBODY, "logout"),
        **write(SIGNED_IN, "link unlink password end-session end-sessions revoke-own-token revoke-tokens"),
        **write(OPERATORS, "deactivate reopen reset-link"),
    },
    "mail": form(SIGNED_IN, "choice"),
    "agents": write(NOBODY, "mcp"),
    "api": {
        **read(SIGNED_IN, "schema"),
        **form(NOBODY, "not-found"),
    },
    "people": {
        **read(MEMBERS, "people"),
        **form(MEMBERS, "tokens"),
        **form(LEADS, "secrets"),
        **write(MEMBERS, "revoke-token"),
        **write(LEADS, "agents invite revoke-invitation roles delete-secret"),
    },
    "jobs": {
        **read(MEMBERS, "list job progress"),
        **read(LEADS, "deliveries"),
        **form(LEADS, "webhooks"),
        **write(MEMBERS, "cancel"),
        **write(LEADS, "retry try-webhook change-secret enable-webhook end-webhook send-again"),
    },
    "notifications": {
        **read(MEMBERS, "list"),
        **write(MEMBERS, "read-all open"),
    },
    "audit": read(LEADS, "list"),
    "corpus": {
        **read(MEMBERS, "list corpus snapshot changes block"),
        **read(LEADS, "imports import import-errors"),
        **form(LEADS, "import-new import-options"),
        **write(LEADS, "freeze redact import-fix import-columns import-confirm import-discard import-undo"),
    },
    "queries": {
        **read(MEMBERS, "list balance failures sources source query sets set"),
        **form(LEADS, "new edit"),
        **write(MEMBERS, "report"),
        **write(LEADS, "change settle variants decide source-new source-edit grant revoke retire"),
        **write(LEADS, "set-save set-draw set-freeze set-delete balance-targets"),
    },
    "querylogs": {
        **read(LEADS, "list log clicks"),
        **form(LEADS, "names read fetch"),
        **write(LEADS, "close name-remove runs received"),
    },
    "retrieval": {
        **read(MEMBERS, "overview runs pool"),
        **read(WATCHERS, "reach results"),
        **read(LEADS, "loaded-index queries-csv passages-csv preview mistakes estimate provenance sheet"),
        **read_and_write(MEMBERS, LEADS, "system run"),
        **form(LEADS, "new-system new-fusion new-remote loaded pace upload new-pool grow-pool"),
        **write(LEADS, "drop-loaded search-loaded confirm discard missing"),
    },
    "triples": {
        **read(WORKERS, "list mine bench"),
        **read(WRITERS, "queries hits find block edit candidates candidate"),
        **write(
            WRITERS,
            "save-new autosave-new checks-new chosen build-hits save autosave checks adopt reject withdraw reopen",
        ),
        **write(LEADS, "retire"),
    },
    "review": {
        **read(WORKERS, "export export-file queue candidate triple flags stale stale-next stale-triple"),
        **read(REVIEWERS, "next screen candidate-next"),
        **read(LEADS, "board bulk-steps bulk-left"),
        **form(WRITERS, "split"),
        **write(WORKERS, "candidate-withdraw message withdraw-flag"),
        **write(WRITERS, "submit-new submit begin re-pin stale-pin drop"),
        **write(REVIEWERS, "verdict skip pull candidate-answer"),
        **write(
            LEADS,
            "candidate-decide re-seat remind stale-retire adjudicate take-elsewhere draw-elsewhere bulk bulk-do "
            "bulk-stop bulk-undo",
        ),
    },
    "judging": {
        **read(MEMBERS, "index guideline-latest guideline"),
        **read(ANNOTATORS, "mine judge pairs earlier differences"),
        **read(LEADS, "preview round adjudicate placeholders"),
        **read(WRITERS, "unanswerable"),
        **form(WRITERS, "unanswerable-query"),
        **form(LEADS, "guideline-new guideline-changes new-round new-pilot adjudicate-pair settle carry"),
        **form(ANNOTATORS, "keys difference"),
        **write(LEADS, "guideline-keep open-the-rest close give-back claim-placeholder end-claim"),
        **write(ANNOTATORS, "grade keys-reset release"),
    },
    "agreement": {
        **read(MEMBERS, "overview subtopics-file differences"),
        **read(WORKERS, "people"),
        **read(LEADS, "pair improve items person"),
    },
    "calibration": {
        **read(WORKERS, "log log-download rates calibrations calibration item"),
        **write(WORKERS, "message close answer"),
        **write(LEADS, "open check"),
    },
    "editions": {
        **read(LEADS, "import snapshot"),
        **write(LEADS, "take-import decide take-snapshot run-again"),
    },
    "goldsets": {
        **read(MEMBERS, "list signing version items slice"),
        **read(DONE_JUDGING, "difference export"),
        **read(LEADS, "training training-found documents left-out public public-preview public-exclusions public-file"),
        **form(LEADS, "new new-version change pick-questions public-card send-grades"),
        **write(
            LEADS,
            "retire-training make-key freeze release discard draw-slice add-found public-prepare public-texts "
            "public-ask public-decide public-sign public-release public-withdraw",
        ),
    },
    "evaluation": {
        **read(
            MEMBERS,
            "overview evaluation misses leaks returned not-located slices trend costs ledger pick compare export query",
        ),
        **form(LEADS, "ledger-note"),
        **write(WORKERS, "miss-note"),
        **write(LEADS, "score score-rest run-again decide close plan judge-again request-grades"),
    },
    "reports": {
        **read(MEMBERS, "evaluation comparison version negatives"),
        **read(WATCHERS, "bias-reports bias stability-reports stability"),
        **read(DONE_ANSWERING, "negatives-file"),
        **write(LEADS, "request-bias judge-next request-stability measure-negatives"),
    },
    "gates": {
        **read(MEMBERS, "gates gates-file gate"),
        **form(LEADS, "new-gate import-gates"),
        **write(LEADS, "retire-gate change-bound make-badge revoke-badge"),
    },
    "badges": read(ANYBODY, "badge"),
    "traces": write(NOBODY, "receive"),
    "people-api": {
        **read(MEMBERS, "people"),
        **form(LEADS, "invitations"),
        **write(LEADS, "roles judge-myself revoke-invitation"),
    },
    "settings-api": {
        **form(LEADS, "settings"),
        **write(LEADS, "scale archive bring-back"),
    },
    "jobs-api": {
        **read(MEMBERS, "job jobs"),
        **read(LEADS, "deliveries"),
        **write(MEMBERS, "job-cancel"),
        **write(LEADS, "job-retry send-again"),
    },
    "notifications-api": {
        **read(MEMBERS, "list"),
        **write(MEMBERS, "read read-all"),
    },
    "corpus-api": {
        **read(MEMBERS, "freeze snapshot blocks corpora texts"),
        **read_and_write(MEMBERS, LEADS, "snapshots"),
        **write(LEADS, "redact"),
    },
    "queries-api": {
        **read(MEMBERS, "query source-detail set"),
        **read_and_write(MEMBERS, LEADS, "list sources sets balance"),
        **read_and_write(LEADS, MEMBERS, "failures"),
        **write(LEADS, "source change settle variants decide edit retire source-edit grant revoke"),
        **write(LEADS, "set-draw set-freeze set-delete"),
    },
    "querylogs-api": {
        **read(LEADS, "list log offered clicks"),
        **form(LEADS, "names"),
        **write(LEADS, "decide close name-remove runs received fetch"),
    },
    "retrieval-api": {
        **read(WATCHERS, "pool reach"),
        **read(LEADS, "push sheet"),
        **read_and_write(WATCHERS, LEADS, "runs run pools"),
        **write(LEADS, "grow-pool missing"),
    },
    "systems-api": {
        **read(WATCHERS, "system"),
        **read(LEADS, "loaded-index"),
        **read_and_write(WATCHERS, LEADS, "systems"),
        **form(LEADS, "loaded"),
        **write(LEADS, "fusions remote drop-loaded search-loaded pace run"),
    },
    "triples-api": {
        **read(WORKERS, "list detail"),
        **read(WRITERS, "candidates"),
        **form(WRITERS, "draft"),
        **write(WRITERS, "drafts adopt reject withdraw reopen"),
        **write(LEADS, "retire retire-many"),
    },
    "triples-export": read(WORKERS, "file report"),
    "review-api": {
        **read(WORKERS, "rounds candidates"),
        **read(REVIEWERS, "queue next"),
        **read(LEADS, "board elsewhere-sets elsewhere bulk-step"),
        **form(WRITERS, "split"),
        **write(WORKERS, "message withdraw-flag candidate-withdraw"),
        **write(WRITERS, "submit begin re-pin drop"),
        **write(REVIEWERS, "verdict pull give-back candidate-answer"),
        **write(
            LEADS,
            "reseat adjudicate remind candidate-decide take-elsewhere draw-elsewhere bulk-preview bulk bulk-undo",
        ),
    },
    "judging-api": {
        **read(ANNOTATORS, "rounds pairs differences unanswerable"),
        **read(LEADS, "candidates all-rounds earlier offer undecided placeholders"),
        **read_and_write(MEMBERS, LEADS, "guidelines"),
        **form(LEADS, "settle carry"),
        **write(
            LEADS,
            "decide-unanswerable close judge-again keep plan new-pilot give-back decide decide-many open-the-rest "
            "claim end-claim",
        ),
        **write(ANNOTATORS, "vote release judgements open-difference answer-difference"),
    },
    "agreement-api": {
        **read(MEMBERS, "agreement pairs differences"),
        **read(LEADS, "improve person"),
    },
    "calibration-api": {
        **read(WORKERS, "log rates calibration items"),
        **read_and_write(WORKERS, LEADS, "calibrations"),
        **write(WORKERS, "message close answer"),
        **write(LEADS, "check"),
    },
    "editions-api": {
        **read(LEADS, "import import-changes import-passages snapshot snapshot-changes snapshot-passages"),
        **write(LEADS, "import-decisions import-take snapshot-decisions snapshot-take run-again"),
    },
    "goldsets-api": {
        **read(MEMBERS, "list version slices"),
        **read(DONE_JUDGING, "export"),
        **read(
            LEADS,
            "blockers documents left-out public-list public-preview public-exclusions public-file training "
            "training-known",
        ),
        **read_and_write(MEMBERS, LEADS, "gold-sets slice"),
        **form(LEADS, "public public-texts slice-offers"),
        **write(
            LEADS,
            "drafts change freeze release discard public-ask public-decide public-sign public-release public-withdraw "
            "draw-slice retire-training send-grades",
        ),
    },
    "evaluation-api": {
        **read(MEMBERS, "detail leaks compare drops"),
        **read_and_write(MEMBERS, LEADS, "list ledger"),
        **read_and_write(MEMBERS, WORKERS, "misses"),
        **form(LEADS, "unjudged score-rest run-again"),
        **write(LEADS, "decide close plan judge-again"),
    },
    "gates-api": {
        **read(MEMBERS, "gates-file gate"),
        **read_and_write(MEMBERS, LEADS, "gates"),
        **write(LEADS, "import-gates replace-gate retire-gate revoke-badge"),
    },
    "reports-api": {
        **read(MEMBERS, "evaluation comparison version"),
        **read(WATCHERS, "bias stability"),
        **read(DONE_ANSWERING, "negatives"),
        **read_and_write(DONE_JUDGING, LEADS, "negative-effects"),
        **form(LEADS, "judge-next"),
        **write(LEADS, "bias-reports stability-reports"),
    },
}
"""Of each namespace the endpoints with their rights. `metrics` needs the token of the server, which is no standing."""

IMPORTS = {
    **read(LEADS, "import"),
    **form(LEADS, "imports"),
    **write(LEADS, "import-options import-fix import-columns import-confirm import-discard import-undo"),
}
"""The endpoints that each kind of import has in the API."""
WITH_IMPORTS = (
    "corpus-api",
    "queries-api",
    "querylogs-api",
    "triples-api",
    "judging-api",
    "collections-api",
    "goldsets-api",
)
ENDPOINTS = {
    f"{namespace}:{name}".removeprefix(":"): endpoint
    for table in (RIGHTS, dict.fromkeys(WITH_IMPORTS, IMPORTS))
    for namespace, named in table.items()
    for name, endpoint in named.items()
}
