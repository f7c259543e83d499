"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.imports.api import import_urls
from apps.triples.api import drafts
from apps.triples.api import triples as triples_api
from apps.triples.imports import TripleImport
from apps.triples.pages import bench, triples

pages = [
    path("", triples.triples, name="list"),
    path("mine/", triples.mine, name="mine"),
    path("bench/", bench.bench, name="bench"),
    path("bench/save/", bench.save, name="save-new"),
    path("bench/checks/", bench.checks, name="checks-new"),
    path("bench/autosave/", bench.autosave, name="autosave-new"),
    path("bench/chosen/", bench.chosen, name="chosen"),
    path("bench/queries/", bench.queries, name="queries"),
    path("bench/hits/", bench.hits, name="hits"),
    path("bench/hits/build/", bench.build_hits, name="build-hits"),
    path("bench/find/", bench.find, name="find"),
    path("bench/blocks/<int:block_id>/", bench.block, name="block"),
    path("candidates/", triples.candidates, name="candidates"),
    path("candidates/<int:pk>/", triples.candidate, name="candidate"),
    path("candidates/<int:pk>/adopt/", triples.adopt, name="adopt"),
    path("candidates/<int:pk>/reject/", triples.reject, name="reject"),
    path("<int:pk>/bench/", bench.edit, name="edit"),
    path("<int:pk>/save/", bench.save, name="save"),
    path("<int:pk>/autosave/", bench.autosave, name="autosave"),
    path("<int:pk>/checks/", bench.checks, name="checks"),
    path("<int:pk>/withdraw/", triples.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", triples.reopen, name="reopen"),
    path("<int:pk>/retire/", triples.retire, name="retire"),
]

api = [
    path("", triples_api.TripleList.as_view(), name="list"),
    *import_urls(TripleImport, noun="triples", reads=Scope.TRIPLES_WRITE, writes=Scope.TRIPLES_WRITE),
    path("drafts/", drafts.DraftList.as_view(), name="drafts"),
    path("candidates/", drafts.MachineWrittenList.as_view(), name="candidates"),
    path("candidates/<int:pk>/adopt/", drafts.AdoptView.as_view(), name="adopt"),
    path("candidates/<int:pk>/reject/", drafts.RejectView.as_view(), name="reject"),
    path("retire/", triples_api.RetireManyView.as_view(), name="retire-many"),
    path("<int:pk>/draft/", drafts.DraftDetail.as_view(), name="draft"),
    path("<int:pk>/withdraw/", drafts.WithdrawView.as_view(), name="withdraw"),
    path("<int:pk>/reopen/", drafts.ReopenView.as_view(), name="reopen"),
    path("<int:pk>/retire/", triples_api.RetireView.as_view(), name="retire"),
    path("<int:pk>/", triples_api.TripleDetail.as_view(), name="detail"),
]
