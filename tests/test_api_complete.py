"""What pages can do over the API: every endpoint of a page that writes has one of the API, or a reason.

A new page says here which of the two it is.
"""

from tests.endpoints import ENDPOINTS

RENAMED = {
    "people:invite": "people-api:invitations",
    "dashboard:judge-myself": "people-api:judge-myself",
    "dashboard:settings": "settings-api:settings",
    "people:agents": "settings-api:settings",
    "dashboard:archive": "settings-api:archive",
    "dashboard:bring-back": "settings-api:bring-back",
    "queries:new": "queries-api:list",
    "queries:report": "queries-api:failures",
    "queries:balance-targets": "queries-api:balance",
    "queries:set-save": "queries-api:sets",
    "queries:source-new": "queries-api:sources",
    "querylogs:read": "querylogs-api:decide",
    "jobs:cancel": "jobs-api:job-cancel",
    "notifications:open": "notifications-api:read",
    "jobs:retry": "jobs-api:job-retry",
    "corpus:freeze": "corpus-api:snapshots",
    "corpus:import-new": "corpus-api:imports",
    "retrieval:new-system": "systems-api:systems",
    "retrieval:new-fusion": "systems-api:fusions",
    "retrieval:new-remote": "systems-api:remote",
    "retrieval:loaded": "systems-api:loaded",
    "retrieval:drop-loaded": "systems-api:drop-loaded",
    "retrieval:search-loaded": "systems-api:search-loaded",
    "retrieval:pace": "systems-api:pace",
    "retrieval:system": "systems-api:run",
    "retrieval:new-pool": "retrieval-api:pools",
    "retrieval:upload": "retrieval-api:runs",
    "retrieval:confirm": "retrieval-api:runs",
    "review:re-seat": "review-api:reseat",
    "review:bulk": "review-api:bulk-preview",
    "review:bulk-do": "review-api:bulk",
    "review:bulk-stop": "jobs-api:job-cancel",
    "review:bulk-undo": "review-api:bulk-undo",
    "judging:grade": "judging-api:judgements",
    "judging:claim-placeholder": "judging-api:claim",
    "judging:guideline-new": "judging-api:guidelines",
    "judging:guideline-changes": "judging-api:judge-again",
    "judging:guideline-keep": "judging-api:keep",
    "judging:new-round": "judging-api:plan",
    "judging:adjudicate-pair": "judging-api:decide-many",
    "judging:difference": "judging-api:answer-difference",
    "judging:unanswerable-query": "judging-api:vote",
    "triples:save-new": "triples-api:drafts",
    "triples:save": "triples-api:draft",
    "review:submit-new": "review-api:submit",
    "review:stale-pin": "review-api:re-pin",
    "review:stale-retire": "triples-api:retire",
    "calibration:open": "calibration-api:calibrations",
    "goldsets:new": "goldsets-api:gold-sets",
    "goldsets:new-version": "goldsets-api:drafts",
    "goldsets:public-prepare": "goldsets-api:public",
    "evaluation:score": "evaluation-api:list",
    "evaluation:miss-note": "evaluation-api:misses",
    "evaluation:ledger-note": "evaluation-api:ledger",
    "gates:new-gate": "gates-api:gates",
    "gates:change-bound": "gates-api:replace-gate",
    "reports:request-bias": "reports-api:bias-reports",
    "reports:request-stability": "reports-api:stability-reports",
    "reports:measure-negatives": "reports-api:negative-effects",
    "editions:take-import": "editions-api:import-take",
    "editions:take-snapshot": "editions-api:snapshot-take",
    "editions:decide": "editions-api:snapshot-decisions",
    "goldsets:pick-questions": "goldsets-api:slice",
    "goldsets:add-found": "goldsets-api:slice-offers",
    "evaluation:request-grades": "evaluation-api:unjudged",
}
"""Endpoints of pages whose endpoint of the API has another name; those of all others have the same."""

A_PERSON_SIGNS_IN = "sign-in, account and password of a person, which no token may touch"
A_TOKEN_MAKES_NONE = "a token that made tokens, secrets or webhooks would outlive its own end"
A_BADGE_IS_PUBLIC = "whoever knows the address of a badge sees gates without signing in, after their token's end too"
A_NAME_IS_TYPED = "ends a project for good: a person reads what goes and types its name"
ONLY_MACHINES_SEND = "takes a token alone, at the address that OTLP has for it"
OPERATORS = "operators have no token: one belongs to a project"
A_SCREEN = "keeps a half-filled form, a key or a choice of a screen; nothing that others see"
AN_AGENT_ASKS = "its tools are operations of the API"
ON_PAGES_ONLY: dict[str, str] = {
    "agents:mcp": AN_AGENT_ASKS,
    "dashboard:delete": A_NAME_IS_TYPED,
    "gates:make-badge": A_BADGE_IS_PUBLIC,
    "traces:receive": ONLY_MACHINES_SEND,
    **dict.fromkeys(
        [
            "accounts:login",
            "accounts:logout",
            "accounts:setup",
            "accounts:join",
            "accounts:password-reset",
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
            "goldsets:public-card",
            "retrieval:discard",
        ],
        A_SCREEN,
    ),
}


def is_of_the_api(name: str) -> bool:
    return "api" in name.partition(":")[0].split("-")


def test_every_page_that_writes_is_over_the_api_or_has_a_reason():
    pages = {name for name, endpoint in ENDPOINTS.items() if endpoint.post is not None and not is_of_the_api(name)}
    reached = {name: RENAMED.get(name, name.replace(":", "-api:")) for name in pages - ON_PAGES_ONLY.keys()}

    assert {page: name for page, name in reached.items() if name not in ENDPOINTS or ENDPOINTS[name].post is None} == {}
    assert sorted((RENAMED.keys() | ON_PAGES_ONLY.keys()) - pages) == []
    assert sorted(RENAMED.keys() & ON_PAGES_ONLY.keys()) == []
