"""Every endpoint of Karat, the methods it answers, and who may use them. `test_matrix.py` walks this table.

An endpoint that the resolver knows and this table does not fails the test: whoever adds one says here who may use it.
"""

from typing import NamedTuple

ANYBODY = frozenset(
    {"anonymous", "stranger", "former", "viewer", "annotator", "reviewer", "lead", "other_lead", "operator"}
)
SIGNED_IN = ANYBODY - {"anonymous"}
OPERATORS = frozenset({"operator"})
MEMBERS = frozenset({"viewer", "annotator", "reviewer", "lead"})
LEADS = frozenset({"lead"})
WATCHERS = frozenset({"lead", "viewer"})
WRITERS = frozenset({"lead", "annotator"})
WORKERS = frozenset({"lead", "annotator", "reviewer"})
ANNOTATORS = frozenset({"annotator"})
REVIEWERS = frozenset({"reviewer"})


class Endpoint(NamedTuple):
    """Who may GET and who may POST; None where the method is not answered (405)."""

    get: frozenset[str] | None = None
    post: frozenset[str] | None = None


def read(who: frozenset[str]) -> Endpoint:
    return Endpoint(get=who)


def write(who: frozenset[str]) -> Endpoint:
    return Endpoint(post=who)


def form(who: frozenset[str]) -> Endpoint:
    return Endpoint(get=who, post=who)


ENDPOINTS: dict[str, Endpoint] = {
    # Without a project
    "healthz": read(ANYBODY),
    "dashboard:projects": read(SIGNED_IN),
    "dashboard:load-demo": write(OPERATORS),
    "accounts:login": form(ANYBODY),
    "accounts:logout": write(ANYBODY),
    "accounts:setup": form(ANYBODY),
    "accounts:join": form(ANYBODY),
    "accounts:profile": form(SIGNED_IN),
    "accounts:password": write(SIGNED_IN),
    "accounts:new-project": form(OPERATORS),
    "accounts:everybody": read(OPERATORS),
    "accounts:deactivate": write(OPERATORS),
    "api:schema": read(SIGNED_IN),
    # The project and its people
    "dashboard:home": read(MEMBERS),
    "dashboard:settings": form(LEADS),
    "people:people": read(MEMBERS),
    "people:invite": write(LEADS),
    "people:revoke-invitation": write(LEADS),
    "people:roles": write(LEADS),
    "people:tokens": form(MEMBERS),
    "people:revoke-token": write(MEMBERS),
    "jobs:list": read(MEMBERS),
    "jobs:job": read(MEMBERS),
    "jobs:progress": read(MEMBERS),
    "jobs:cancel": write(MEMBERS),
    "jobs:retry": write(LEADS),
    "audit:list": read(LEADS),
    # Corpus and queries
    "corpus:list": read(MEMBERS),
    "corpus:corpus": read(MEMBERS),
    "corpus:freeze": write(LEADS),
    "corpus:snapshot": read(MEMBERS),
    "corpus:changes": read(MEMBERS),
    "corpus:block": read(MEMBERS),
    "corpus:redact": write(LEADS),
    "corpus:imports": read(LEADS),
    "corpus:import-new": form(LEADS),
    "corpus:import": read(LEADS),
    "corpus:import-confirm": write(LEADS),
    "corpus:import-discard": write(LEADS),
    "corpus:import-errors": read(LEADS),
    "queries:list": read(MEMBERS),
    "queries:new": form(LEADS),
    "queries:balance": read(MEMBERS),
    "queries:sources": read(MEMBERS),
    "queries:source-new": write(LEADS),
    "queries:source": read(MEMBERS),
    "queries:source-edit": write(LEADS),
    "queries:grant": write(LEADS),
    "queries:revoke": write(LEADS),
    "queries:query": read(MEMBERS),
    "queries:edit": form(LEADS),
    "queries:retire": write(LEADS),
    # Systems, runs and pools
    "retrieval:overview": read(MEMBERS),
    "retrieval:runs": read(MEMBERS),
    "retrieval:new_system": form(LEADS),
    "retrieval:system": Endpoint(get=MEMBERS, post=LEADS),
    "retrieval:run": Endpoint(get=MEMBERS, post=LEADS),
    "retrieval:upload": form(LEADS),
    "retrieval:preview": read(LEADS),
    "retrieval:mistakes": read(LEADS),
    "retrieval:confirm": write(LEADS),
    "retrieval:discard": write(LEADS),
    "retrieval:new_pool": form(LEADS),
    "retrieval:estimate": read(LEADS),
    "retrieval:pool": read(MEMBERS),
    "retrieval:grow_pool": form(LEADS),
    "retrieval:provenance": read(LEADS),
    # Triples and their reviews
    "triples:list": read(WORKERS),
    "triples:mine": read(WORKERS),
    "triples:refresh": write(LEADS),
    "triples:bench": read(WORKERS),
    "triples:save_new": write(WRITERS),
    "triples:checks_new": write(WRITERS),
    "triples:find": read(WRITERS),
    "triples:block": read(WRITERS),
    "triples:edit": read(WRITERS),
    "triples:save": write(WRITERS),
    "triples:checks": write(WRITERS),
    "triples:withdraw": write(WRITERS),
    "triples:reopen": write(WRITERS),
    "triples:retire": write(LEADS),
    "review:queue": read(WORKERS),
    "review:next": read(REVIEWERS),
    "review:screen": read(REVIEWERS),
    "review:verdict": write(REVIEWERS),
    "review:submit_new": write(WRITERS),
    "review:triple": read(WORKERS),
    "review:submit": write(WRITERS),
    "review:begin": write(WRITERS),
    "review:re_pin": write(WRITERS),
    "review:message": write(WORKERS),
    "review:withdraw_flag": write(WORKERS),
    "review:split": write(WRITERS),
    "review:drop": write(WRITERS),
    "review:adjudicate": write(LEADS),
    # Judging
    "judging:index": read(MEMBERS),
    "judging:guideline_latest": read(MEMBERS),
    "judging:guideline_new": form(LEADS),
    "judging:guideline": read(MEMBERS),
    "judging:new_round": form(LEADS),
    "judging:preview": read(LEADS),
    "judging:round": read(LEADS),
    "judging:close": write(LEADS),
    "judging:judge": read(ANNOTATORS),
    "judging:grade": write(ANNOTATORS),
    "judging:pairs": read(ANNOTATORS),
    "judging:release": write(ANNOTATORS),
    "judging:adjudicate": read(LEADS),
    "judging:adjudicate_pair": form(LEADS),
    # Agreement, versions, scores
    "agreement:overview": read(MEMBERS),
    "agreement:pair": read(LEADS),
    "goldsets:list": read(MEMBERS),
    "goldsets:new": form(LEADS),
    "goldsets:new-version": form(LEADS),
    "goldsets:version": read(MEMBERS),
    "goldsets:change": form(LEADS),
    "goldsets:freeze": write(LEADS),
    "goldsets:release": write(LEADS),
    "goldsets:discard": write(LEADS),
    "goldsets:difference": read(MEMBERS),
    "goldsets:export": read(MEMBERS - ANNOTATORS),  # the matrix asks as one who is still judging
    "goldsets:items": read(MEMBERS),
    "evaluation:overview": read(MEMBERS),
    "evaluation:evaluation": read(MEMBERS),
    "evaluation:score": write(LEADS),
    "evaluation:pick": read(MEMBERS),
    "evaluation:compare": read(MEMBERS),
    "evaluation:decide": write(LEADS),
    "evaluation:export": read(MEMBERS),
    "evaluation:query": read(MEMBERS),
    # The API
    "api:not-found": Endpoint(get=frozenset(), post=frozenset()),
    "jobs-api:job": read(MEMBERS),
    "jobs-api:job-cancel": write(MEMBERS),
    "corpus-api:snapshots": read(MEMBERS),
    "corpus-api:snapshot": read(MEMBERS),
    "corpus-api:blocks": read(MEMBERS),
    "queries-api:list": read(MEMBERS),
    "queries-api:query": read(MEMBERS),
    "retrieval-api:runs": Endpoint(get=WATCHERS, post=LEADS),
    "retrieval-api:run": read(WATCHERS),
    "retrieval-api:pools": read(WATCHERS),
    "retrieval-api:pool": read(WATCHERS),
    "triples-api:list": read(WORKERS),
    "triples-api:detail": read(WORKERS),
    "review-api:queue": read(REVIEWERS),
    "review-api:next": read(REVIEWERS),
    "review-api:verdict": write(REVIEWERS),
    "judging-api:rounds": read(ANNOTATORS),
    "judging-api:pairs": read(ANNOTATORS),
    "judging-api:judgements": write(ANNOTATORS),
    "agreement-api:agreement": read(MEMBERS),
    "goldsets-api:list": read(MEMBERS),
    "goldsets-api:version": read(MEMBERS),
    "goldsets-api:export": read(MEMBERS - ANNOTATORS),
    "evaluation-api:list": Endpoint(get=MEMBERS, post=LEADS),
    "evaluation-api:detail": read(MEMBERS),
}
