from django.urls import path

from apps.triples.pages import bench, candidates, fragments, hits, saving, triples

app_name = "triples"
urlpatterns = [
    path("", triples.triples, name="list"),
    path("mine/", triples.mine, name="mine"),
    path("bench/", bench.bench, name="bench"),
    path("bench/save/", saving.save, name="save-new"),
    path("bench/checks/", fragments.checks, name="checks-new"),
    path("bench/autosave/", saving.autosave, name="autosave-new"),
    path("bench/chosen/", fragments.chosen, name="chosen"),
    path("bench/queries/", fragments.queries, name="queries"),
    path("bench/hits/", hits.hits, name="hits"),
    path("bench/hits/build/", hits.build_hits, name="build-hits"),
    path("bench/find/", fragments.find, name="find"),
    path("bench/blocks/<int:block_id>/", fragments.block, name="block"),
    path("candidates/", candidates.candidates, name="candidates"),
    path("candidates/<int:pk>/", candidates.candidate, name="candidate"),
    path("candidates/<int:pk>/adopt/", candidates.adopt, name="adopt"),
    path("candidates/<int:pk>/reject/", candidates.reject, name="reject"),
    path("<int:pk>/bench/", bench.edit, name="edit"),
    path("<int:pk>/save/", saving.save, name="save"),
    path("<int:pk>/autosave/", saving.autosave, name="autosave"),
    path("<int:pk>/checks/", fragments.checks, name="checks"),
    path("<int:pk>/withdraw/", triples.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", triples.reopen, name="reopen"),
    path("<int:pk>/retire/", triples.retire, name="retire"),
]
