from django.urls import path

from apps.triples.pages import bench, candidates, triples

app_name = "triples"
urlpatterns = [
    path("", triples.triples, name="list"),
    path("mine/", triples.mine, name="mine"),
    path("bench/", bench.bench, name="bench"),
    path("bench/save/", bench.save, name="save-new"),
    path("bench/checks/", bench.checks, name="checks-new"),
    path("bench/autosave/", bench.autosave, name="autosave-new"),
    path("bench/chosen/", bench.chosen, name="chosen"),
    path("bench/queries/", bench.queries, name="queries"),
    path("bench/hits/", candidates.hits, name="hits"),
    path("bench/hits/build/", candidates.build_hits, name="build-hits"),
    path("bench/find/", bench.find, name="find"),
    path("bench/blocks/<int:block_id>/", bench.block, name="block"),
    path("candidates/", candidates.candidates, name="candidates"),
    path("candidates/<int:pk>/", candidates.candidate, name="candidate"),
    path("candidates/<int:pk>/adopt/", candidates.adopt, name="adopt"),
    path("candidates/<int:pk>/reject/", candidates.reject, name="reject"),
    path("<int:pk>/bench/", bench.edit, name="edit"),
    path("<int:pk>/save/", bench.save, name="save"),
    path("<int:pk>/autosave/", bench.autosave, name="autosave"),
    path("<int:pk>/checks/", bench.checks, name="checks"),
    path("<int:pk>/withdraw/", triples.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", triples.reopen, name="reopen"),
    path("<int:pk>/retire/", triples.retire, name="retire"),
]
