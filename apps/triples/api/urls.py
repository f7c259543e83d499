from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.edges.import_api import import_urls
from apps.triples.api import drafts, triples
from apps.triples.edges.imports import TripleImport

app_name = "triples-api"
urlpatterns = [
    path("", triples.TripleList.as_view(), name="list"),
    *import_urls(TripleImport, noun="triples", reads=Scope.TRIPLES_WRITE, writes=Scope.TRIPLES_WRITE),
    path("drafts/", drafts.DraftList.as_view(), name="drafts"),
    path("candidates/", drafts.MachineWrittenList.as_view(), name="candidates"),
    path("candidates/<int:pk>/adopt/", drafts.AdoptView.as_view(), name="adopt"),
    path("candidates/<int:pk>/reject/", drafts.RejectView.as_view(), name="reject"),
    path("retire/", triples.RetireManyView.as_view(), name="retire-many"),
    path("<int:pk>/draft/", drafts.DraftDetail.as_view(), name="draft"),
    path("<int:pk>/withdraw/", drafts.WithdrawView.as_view(), name="withdraw"),
    path("<int:pk>/reopen/", drafts.ReopenView.as_view(), name="reopen"),
    path("<int:pk>/retire/", triples.RetireView.as_view(), name="retire"),
    path("<int:pk>/", triples.TripleDetail.as_view(), name="detail"),
]
