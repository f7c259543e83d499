"""What each role may open and do: the table of `tests/endpoints.py` in sentences, for `docs/reference/roles.md`.

`python -m tests.roles` prints the tables; with `--write` it puts them into the page.
"""

import sys
from collections.abc import Iterator

from tests.endpoints import DONE_JUDGING, ENDPOINTS
from tests.house import REPO

PAGE = REPO / "docs/reference/roles.md"
BEGIN, END = "<!-- tables: python -m tests.roles --write -->", "<!-- end of tables -->"
COLUMNS = ("lead", "annotator", "reviewer", "viewer")


RIGHTS: dict[str, dict[str, str]] = {
    "The project": {
        "open the home page; see the members; search": "dashboard:home dashboard:search people:people",
        "make and revoke one's own API tokens": "people:tokens people:revoke-token",
        "see jobs; cancel one's own; read one's notifications": (
            "jobs:list jobs:job jobs:progress jobs:cancel notifications:list notifications:read-all notifications:open"
        ),
        "invite people, change roles, store secrets, change settings, skip first steps": (
            "dashboard:settings dashboard:skip-step dashboard:judge-myself people:invite people:revoke-invitation "
            "people:agents people:roles people:secrets people:delete-secret"
        ),
        "archive the project and bring it back": "dashboard:archive dashboard:bring-back",
        "delete the project, with everything in it": "dashboard:delete",
        "run a failed job again; set up webhooks": (
            "jobs:retry jobs:webhooks jobs:try-webhook jobs:change-secret jobs:enable-webhook jobs:end-webhook "
            "jobs:deliveries jobs:send-again"
        ),
        "read the audit": "audit:list",
    },
    "Passages and queries": {
        "read corpora, snapshots, passages and their history": (
            "corpus:list corpus:corpus corpus:snapshot corpus:changes corpus:block"
        ),
        "read queries, their sets, sources and balance": (
            "queries:list queries:balance queries:sources queries:source queries:query queries:sets queries:set"
        ),
        "report searches that went wrong": "queries:failures queries:report",
        "import documents and queries; freeze a snapshot; redact a passage": (
            "corpus:freeze corpus:redact corpus:imports corpus:import-new corpus:import corpus:import-options "
            "corpus:import-fix corpus:import-columns corpus:import-confirm corpus:import-discard corpus:import-undo "
            "corpus:import-errors"
        ),
        "compare a new edition with the one before; take it with its grades": (
            "editions:import editions:take-import editions:decide editions:snapshot editions:take-snapshot "
            "editions:run-again"
        ),
        "add, edit and retire queries; make variants; settle remarks; decide failed searches; record sources": (
            "queries:new queries:change queries:source-new queries:source-edit queries:grant queries:revoke "
            "queries:edit queries:retire queries:settle queries:decide queries:variants queries:balance-targets"
        ),
        "save, freeze and delete query sets; draw samples": (
            "queries:set-save queries:set-draw queries:set-freeze queries:set-delete"
        ),
        "draw queries from a search log; read and keep them; make runs of what systems returned": (
            "querylogs:list querylogs:log querylogs:read querylogs:close querylogs:names querylogs:name-remove "
            "querylogs:clicks querylogs:runs querylogs:received querylogs:fetch"
        ),
    },
    "Systems, runs and pools": {
        "read systems, runs and pools": (
            "retrieval:overview retrieval:runs retrieval:system.get retrieval:run.get retrieval:pool"
        ),
        "see what a run returned over all queries, and download it": "retrieval:reach retrieval:results",
        "add systems; start, upload and import runs": (
            "retrieval:new-system retrieval:new-fusion retrieval:new-remote retrieval:pace retrieval:system.post "
            "retrieval:loaded retrieval:loaded-index retrieval:drop-loaded retrieval:search-loaded retrieval:run.post "
            "retrieval:upload retrieval:preview retrieval:mistakes retrieval:confirm retrieval:discard "
            "retrieval:queries-csv retrieval:passages-csv"
        ),
        "choose results to judge; see which run found a result": (
            "retrieval:new-pool retrieval:estimate retrieval:grow-pool retrieval:missing retrieval:provenance "
            "retrieval:sheet"
        ),
    },
    "Questions and answers": {
        "read Q&As, as far as one's part in them allows": "triples:list triples:mine triples:bench",
        "write Q&As; look at candidates and search hits for them": (
            "triples:save-new triples:autosave-new triples:checks-new triples:chosen triples:queries triples:hits "
            "triples:build-hits triples:find triples:block triples:edit triples:save triples:autosave triples:checks "
            "triples:candidates triples:candidate triples:adopt triples:reject"
        ),
        "submit, revise, split and withdraw one's own Q&As; move them to new passages": (
            "triples:withdraw triples:reopen review:submit-new review:submit review:begin review:re-pin review:split "
            "review:stale-pin review:drop"
        ),
        "review Q&As of others; answer whether another passage is right as well": (
            "review:next review:screen review:verdict review:skip review:pull review:candidate-next "
            "review:candidate-answer"
        ),
        "read a Q&A and its reviews; take part in the discussion of a flag; withdraw one's own flag": (
            "review:queue review:triple review:flags review:message review:withdraw-flag review:stale "
            "review:stale-next review:stale-triple review:candidate review:candidate-withdraw"
        ),
        "say what a missed question is: another right passage, a wrong one, an unclear question": (
            "evaluation:miss-note"
        ),
        "export Q&As": "review:export review:export-file",
        "watch reviews, give them to others, decide disputes, retire Q&As": (
            "review:board review:re-seat review:remind review:adjudicate review:stale-retire triples:retire "
            "review:candidate-decide review:bulk review:bulk-do review:bulk-steps review:bulk-left review:bulk-stop "
            "review:bulk-undo"
        ),
        "take Q&As as accepted that were reviewed elsewhere; have some of them reviewed again, drawn at random": (
            "review:take-elsewhere review:draw-elsewhere"
        ),
    },
    "Judging": {
        "see the rounds; read the guideline": "judging:index judging:guideline-latest judging:guideline",
        "grade passages; read and change one's own grades; choose one's keys": (
            "judging:mine judging:judge judging:grade judging:pairs judging:earlier judging:keys judging:keys-reset "
            "judging:release judging:differences judging:difference"
        ),
        "plan, open and close rounds; write guidelines": (
            "judging:guideline-new judging:guideline-changes judging:guideline-keep judging:new-round judging:preview "
            "judging:new-pilot "
            "judging:round judging:open-the-rest judging:close judging:give-back"
        ),
        "vote whether anything answers a query; as a lead see all candidates, and decide where votes differ": (
            "judging:unanswerable judging:unanswerable-query"
        ),
        "decide pairs; carry grades over to the same texts": (
            "judging:adjudicate judging:adjudicate-pair judging:settle judging:carry"
        ),
        "see the names in imported files; say which member a name is": (
            "judging:placeholders judging:claim-placeholder judging:end-claim"
        ),
    },
    "Agreement and quality": {
        "read agreement, without names": "agreement:overview agreement:subtopics-file agreement:differences",
        "see one's own agreement with the others": "agreement:people",
        "see agreement by person; improve the guideline": (
            "agreement:pair agreement:person agreement:improve agreement:items"
        ),
        "read flags and flag rates; take part in calibrations": (
            "calibration:log calibration:log-download calibration:rates calibration:calibrations "
            "calibration:calibration calibration:message calibration:close calibration:item calibration:answer"
        ),
        "open a calibration; check the control charts now": "calibration:open calibration:check",
    },
    "Gold versions": {
        "read versions, and the public key that signs them": "goldsets:list goldsets:version goldsets:signing",
        "make or replace the signing key": "goldsets:make-key",
        "see single items of a version": "goldsets:items",
        "read what changed between versions; download a version": "goldsets:difference goldsets:export",
        "download training negatives": "reports:negatives-file",
        "send grades back to Langfuse or Phoenix": "goldsets:send-grades",
        "put together, freeze and release versions": (
            "goldsets:new goldsets:new-version goldsets:change goldsets:freeze goldsets:release goldsets:discard "
            "goldsets:documents goldsets:left-out"
        ),
        "read and retire training manifests, see which items of a version they have": (
            "goldsets:training goldsets:retire-training goldsets:training-found"
        ),
        "see the questions of a slice": "goldsets:slice",
        "draw a quarter’s slice; add questions to slices": (
            "goldsets:draw-slice goldsets:pick-questions goldsets:add-found"
        ),
        (
            "prepare a public release, record that texts may be published, ask for a signature, sign what another"
            " lead prepared, release it to the public, withdraw it"
        ): (
            "goldsets:public goldsets:public-prepare goldsets:public-texts goldsets:public-card "
            "goldsets:public-preview goldsets:public-exclusions goldsets:public-ask goldsets:public-decide "
            "goldsets:public-sign goldsets:public-release goldsets:public-withdraw"
        ),
        "download a public release before it is released": "goldsets:public-file",
    },
    "Scores and gates": {
        "read scores, comparisons, trend, costs and the log of experiments; download reports": (
            "evaluation:overview evaluation:evaluation evaluation:trend evaluation:costs evaluation:ledger "
            "evaluation:slices evaluation:pick evaluation:compare evaluation:export evaluation:query "
            "evaluation:misses evaluation:leaks evaluation:returned evaluation:not-located reports:evaluation "
            "reports:comparison reports:version reports:negatives"
        ),
        "read gates and their history": "gates:gates gates:gates-file gates:gate",
        "read the analyses of pool bias and stability": (
            "reports:bias-reports reports:bias reports:stability-reports reports:stability"
        ),
        "score runs; record and close decisions; plan the number of queries of a comparison; request analyses and more "
        "grades": (
            "evaluation:plan evaluation:score evaluation:score-rest evaluation:run-again evaluation:ledger-note "
            "evaluation:decide evaluation:close evaluation:judge-again evaluation:request-grades reports:request-bias "
            "reports:judge-next reports:request-stability reports:measure-negatives"
        ),
        "set, import and retire gates; publish badges": (
            "gates:new-gate gates:import-gates gates:retire-gate gates:change-bound gates:make-badge gates:revoke-badge"
        ),
    },
}
"""By part of the product and sentence, the pages that it takes. `name.get` or `name.post` is half of a page."""
ONCE_ANSWERED = {"download training negatives"}
"""Who may not do it now may when they have answered all that they are asked."""


def columns_of(sentence: str, pages: str) -> frozenset[str]:
    """The roles that may use every page of the right, by the table of endpoints. Raises ValueError when they differ."""
    found = {who for page in pages.split() for who in _used_by(page)}
    if len(found) != 1:
        raise ValueError(f"“{sentence}” mixes pages of different roles: {sorted(map(sorted, found))}")
    return found.pop()


def covered() -> Iterator[str]:
    """Every half of a page that some right names, as `name.get` or `name.post`."""
    return (
        half
        for rights in RIGHTS.values()
        for pages in rights.values()
        for page in pages.split()
        for half in _halves(page)
    )


def to_cover() -> set[str]:
    """The halves of all pages of a project."""
    pages = (name for name in ENDPOINTS if not _is_apart(name))
    return {half for page in pages for half in _halves(page)}


def tables() -> str:
    return "\n\n".join(f"## {title}\n\n{_table(rights)}" for title, rights in RIGHTS.items())


def written(page: str) -> str:
    """The text of the page with the tables as they are now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}"


def _table(rights: dict[str, str]) -> str:
    lines = [f"| | {' | '.join(COLUMNS)} |", "| --- |" + " :-: |" * len(COLUMNS)]
    for sentence, pages in rights.items():
        who = columns_of(sentence, pages)
        others = "when done" if sentence in ONCE_ANSWERED or who == DONE_JUDGING else ""
        cells = ("✓" if role in who else others for role in COLUMNS)
        lines.append(f"| {sentence} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _halves(page: str) -> list[str]:
    name, _, half = page.partition(".")
    endpoint = ENDPOINTS[name]
    halves = [key for key in ("get", "post") if getattr(endpoint, key) is not None]
    return [f"{name}.{key}" for key in halves if half in ("", key)]


def _used_by(page: str) -> Iterator[frozenset[str]]:
    for half in _halves(page):
        name, key = half.split(".")
        yield getattr(ENDPOINTS[name], key) & frozenset(COLUMNS)


def _is_apart(name: str) -> bool:
    """Whether a page is not of a project: it is open to all, of the whole instance, or of the API."""
    endpoint = ENDPOINTS[name]
    users = (endpoint.get or frozenset()) | (endpoint.post or frozenset())
    is_of_project = not users.isdisjoint(COLUMNS) and "stranger" not in users
    return not is_of_project or "-api:" in name or "-export:" in name


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(written(PAGE.read_text()))
    else:
        print(tables())
