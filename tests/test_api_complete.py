"""What pages can do over the API: every endpoint of a page that writes has one of the API, or a reason, or is missing.

A new page says here which of the three it is. MISSING is what is still to be built, as docs/reference/api.md tells.
"""

from tests.conftest import REPO
from tests.endpoints import ENDPOINTS

REACHED = {
    "jobs:cancel": "jobs-api:job-cancel",
    "notifications:open": "notifications-api:read",
    "notifications:read-all": "notifications-api:read-all",
    "jobs:retry": "jobs-api:job-retry",
    "jobs:send-again": "jobs-api:send-again",
    "corpus:freeze": "corpus-api:snapshots",
    "corpus:import-new": "corpus-api:imports",
    "corpus:import-options": "corpus-api:import-options",
    "corpus:import-fix": "corpus-api:import-fix",
    "corpus:import-columns": "corpus-api:import-columns",
    "corpus:import-confirm": "corpus-api:import-confirm",
    "corpus:import-discard": "corpus-api:import-discard",
    "corpus:import-undo": "corpus-api:import-undo",
    "corpus:redact": "corpus-api:redact",
    "retrieval:new-system": "systems-api:systems",
    "retrieval:new-fusion": "systems-api:fusions",
    "retrieval:new-remote": "systems-api:remote",
    "retrieval:loaded": "systems-api:loaded",
    "retrieval:drop-loaded": "systems-api:drop-loaded",
    "retrieval:search-loaded": "systems-api:search-loaded",
    "retrieval:pace": "systems-api:pace",
    "retrieval:system": "systems-api:run",
    "retrieval:upload": "retrieval-api:runs",
    "retrieval:confirm": "retrieval-api:runs",
    "review:verdict": "review-api:verdict",
    "review:pull": "review-api:pull",
    "review:candidate-answer": "review-api:candidate-answer",
    "review:re-seat": "review-api:reseat",
    "judging:grade": "judging-api:judgements",
    "judging:close": "judging-api:close",
    "judging:open-the-rest": "judging-api:open-the-rest",
    "judging:claim-placeholder": "judging-api:claim",
    "judging:end-claim": "judging-api:end-claim",
    "judging:guideline-new": "judging-api:guidelines",
    "judging:guideline-changes": "judging-api:judge-again",
    "judging:guideline-keep": "judging-api:keep",
    "judging:new-round": "judging-api:plan",
    "judging:give-back": "judging-api:give-back",
    "judging:release": "judging-api:release",
    "judging:adjudicate-pair": "judging-api:decide",
    "judging:settle": "judging-api:settle",
    "judging:carry": "judging-api:carry",
    "triples:save-new": "triples-api:drafts",
    "triples:save": "triples-api:draft",
    "triples:adopt": "triples-api:adopt",
    "triples:reject": "triples-api:reject",
    "triples:withdraw": "triples-api:withdraw",
    "triples:reopen": "triples-api:reopen",
    "triples:retire": "triples-api:retire",
    "review:submit-new": "review-api:submit",
    "review:submit": "review-api:submit",
    "review:begin": "review-api:begin",
    "review:re-pin": "review-api:re-pin",
    "review:stale-pin": "review-api:re-pin",
    "review:stale-retire": "triples-api:retire",
    "review:message": "review-api:message",
    "review:withdraw-flag": "review-api:withdraw-flag",
    "review:drop": "review-api:drop",
    "review:adjudicate": "review-api:adjudicate",
    "goldsets:new": "goldsets-api:gold-sets",
    "goldsets:new-version": "goldsets-api:drafts",
    "goldsets:change": "goldsets-api:change",
    "goldsets:freeze": "goldsets-api:freeze",
    "goldsets:release": "goldsets-api:release",
    "goldsets:discard": "goldsets-api:discard",
    "goldsets:public-prepare": "goldsets-api:public",
    "goldsets:public-ask": "goldsets-api:public-ask",
    "goldsets:public-sign": "goldsets-api:public-sign",
    "goldsets:public-release": "goldsets-api:public-release",
    "goldsets:public-withdraw": "goldsets-api:public-withdraw",
    "evaluation:score": "evaluation-api:list",
    "evaluation:miss-say": "evaluation-api:misses",
    "evaluation:ledger-note": "evaluation-api:ledger",
    "gates:new-gate": "gates-api:gates",
    "gates:import-gates": "gates-api:import-gates",
    "gates:change-bound": "gates-api:replace-gate",
    "gates:retire-gate": "gates-api:retire-gate",
    "reports:request-bias": "reports-api:bias-reports",
    "reports:request-stability": "reports-api:stability-reports",
    "reports:measure-negatives": "reports-api:negative-effects",
}

A_PERSON_SIGNS_IN = "sign-in, account and password of a person, which no token may touch"
A_TOKEN_MAKES_NONE = "a token that made tokens, secrets or webhooks would outlive its own end"
A_NAME_IS_TYPED = "ends a project for good: a person reads what goes and types its name"
OPERATORS = "operators have no token: one belongs to a project"
A_SCREEN = "keeps a half-filled form, a key or a choice of a screen; nothing that others see"
ON_PAGES_ONLY: dict[str, str] = {
    "dashboard:delete": A_NAME_IS_TYPED,
    **dict.fromkeys(
        [
            "accounts:login",
            "accounts:logout",
            "accounts:setup",
            "accounts:join",
            "accounts:forgotten",
            "accounts:reset",
            "accounts:profile",
            "accounts:link",
            "accounts:unlink",
            "accounts:password",
            "accounts:end-session",
            "accounts:end-sessions",
            "accounts:revoke-own-token",
            "accounts:revoke-tokens",
            "mail:choice",
        ],
        A_PERSON_SIGNS_IN,
    ),
    **dict.fromkeys(
        [
            "people:secrets",
            "people:delete-secret",
            "people:tokens",
            "people:revoke-token",
            "jobs:webhooks",
            "jobs:try-webhook",
            "jobs:change-secret",
            "jobs:enable-webhook",
            "jobs:end-webhook",
            "goldsets:make-key",
        ],
        A_TOKEN_MAKES_NONE,
    ),
    **dict.fromkeys(
        [
            "dashboard:load-demo",
            "accounts:new-project",
            "accounts:deactivate",
            "accounts:reopen",
            "accounts:reset-link",
            "accounts:leave",
            "dashboard:check-server",
            "dashboard:measure-server",
            "dashboard:clear-storage",
            "dashboard:back-up",
            "dashboard:send-mail",
            "dashboard:test-mail",
            "server-webhook:try",
            "server-webhook:send-again",
        ],
        OPERATORS,
    ),
    **dict.fromkeys(
        [
            "dashboard:skip-step",
            "triples:autosave-new",
            "triples:autosave",
            "triples:checks-new",
            "triples:checks",
            "triples:chosen",
            "review:skip",
            "triples:build-hits",
            "judging:keys",
            "judging:keys-reset",
            "goldsets:public-texts",
            "goldsets:public-card",
            "retrieval:discard",
        ],
        A_SCREEN,
    ),
}

MISSING: dict[str, list[str]] = {
    "people and settings": [
        "dashboard:settings",
        "dashboard:archive",
        "dashboard:bring-back",
        "people:invite",
        "people:revoke-invitation",
        "people:roles",
        "dashboard:judge-myself",
    ],
    "queries and their sources": [
        "queries:new",
        "queries:change",
        "queries:edit",
        "queries:retire",
        "queries:source-new",
        "queries:source-edit",
        "queries:grant",
        "queries:revoke",
    ],
    "pools and the notes of runs": ["retrieval:new-pool", "retrieval:grow-pool", "retrieval:missing", "retrieval:run"],
    "splits, reminders and decisions on passages": [
        "review:candidate-decide",
        "review:candidate-withdraw",
        "review:remind",
        "review:split",
        "review:stale-retire-many",
    ],
    "calibrations": [
        "calibration:open",
        "calibration:check",
        "calibration:message",
        "calibration:close",
        "calibration:answer",
    ],
    "new editions": [
        "editions:take-import",
        "editions:decide",
        "editions:take-snapshot",
        "editions:run-again",
    ],
    "slices and training manifests": [
        "goldsets:draw-slice",
        "goldsets:pick-questions",
        "goldsets:add-found",
        "goldsets:retire-training",
    ],
    "comparisons that are closed, badges": [
        "evaluation:score-rest",
        "evaluation:run-again",
        "evaluation:decide",
        "evaluation:close",
        "evaluation:judge-again",
        "evaluation:request-grades",
        "reports:judge-first",
        "gates:make-badge",
        "gates:revoke-badge",
    ],
}


def is_of_the_api(name: str) -> bool:
    return "api" in name.partition(":")[0].split("-")


def test_every_page_that_writes_is_over_the_api_or_has_a_reason_or_is_known_to_be_missing():
    writes = {name for name, endpoint in ENDPOINTS.items() if endpoint.post is not None and not is_of_the_api(name)}
    missing = [name for names in MISSING.values() for name in names]
    told = [*REACHED, *ON_PAGES_ONLY, *missing]

    assert sorted(writes - set(told)) == []
    assert sorted(set(told) - writes) == []
    assert len(told) == len(set(told))


def test_what_is_named_of_the_api_is_there_and_writes():
    assert [name for name in REACHED.values() if ENDPOINTS[name].post is None] == []


def test_the_documents_tell_what_is_missing():
    page = (REPO / "docs/reference/api.md").read_text()
    told = page.split("\n## What only pages do yet\n", 1)[1].split("\n## ", 1)[0]

    assert [what for what in MISSING if what not in " ".join(told.split())] == []
