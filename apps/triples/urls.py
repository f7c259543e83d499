from django.urls import path

from apps.triples.views import candidates, hits, opening, parts, saving, triples

app_name = "triples"
urlpatterns = [
    path("", triples.triples, name="list"),
    path("mine/", triples.mine, name="mine"),
    path("bench/", opening.bench, name="bench"),
    path("bench/save/", saving.save, name="save_new"),
    path("bench/checks/", parts.checks, name="checks_new"),
    path("bench/autosave/", saving.autosave, name="autosave_new"),
    path("bench/chosen/", parts.chosen, name="chosen"),
    path("bench/queries/", parts.queries, name="queries"),
    path("bench/hits/", hits.hits, name="hits"),
    path("bench/hits/build/", hits.build_hits, name="build_hits"),
    path("bench/find/", parts.find, name="find"),
    path("bench/blocks/<int:block_id>/", parts.block, name="block"),
    path("candidates/", candidates.candidates, name="candidates"),
    path("candidates/<int:pk>/", candidates.candidate, name="candidate"),
    path("candidates/<int:pk>/adopt/", candidates.adopt, name="adopt"),
    path("candidates/<int:pk>/reject/", candidates.reject, name="reject"),
    path("<int:pk>/bench/", opening.edit, name="edit"),
    path("<int:pk>/save/", saving.save, name="save"),
    path("<int:pk>/autosave/", saving.autosave, name="autosave"),
    path("<int:pk>/checks/", parts.checks, name="checks"),
    path("<int:pk>/withdraw/", triples.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", triples.reopen, name="reopen"),
    path("<int:pk>/retire/", triples.retire, name="retire"),
]
