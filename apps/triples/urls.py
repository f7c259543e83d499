from django.urls import path

from apps.triples import bench_views, candidate_views, hit_views, views

app_name = "triples"
urlpatterns = [
    path("", views.triples, name="list"),
    path("mine/", views.mine, name="mine"),
    path("bench/", bench_views.bench, name="bench"),
    path("bench/save/", bench_views.save, name="save_new"),
    path("bench/checks/", bench_views.checks, name="checks_new"),
    path("bench/autosave/", bench_views.autosave, name="autosave_new"),
    path("bench/chosen/", bench_views.chosen, name="chosen"),
    path("bench/queries/", bench_views.queries, name="queries"),
    path("bench/hits/", hit_views.hits, name="hits"),
    path("bench/hits/build/", hit_views.build_hits, name="build_hits"),
    path("bench/find/", bench_views.find, name="find"),
    path("bench/blocks/<int:block_id>/", bench_views.block, name="block"),
    path("candidates/", candidate_views.candidates, name="candidates"),
    path("candidates/<int:pk>/", candidate_views.candidate, name="candidate"),
    path("candidates/<int:pk>/adopt/", candidate_views.adopt, name="adopt"),
    path("candidates/<int:pk>/reject/", candidate_views.reject, name="reject"),
    path("<int:pk>/bench/", bench_views.edit, name="edit"),
    path("<int:pk>/save/", bench_views.save, name="save"),
    path("<int:pk>/autosave/", bench_views.autosave, name="autosave"),
    path("<int:pk>/checks/", bench_views.checks, name="checks"),
    path("<int:pk>/withdraw/", views.withdraw, name="withdraw"),
    path("<int:pk>/reopen/", views.reopen, name="reopen"),
    path("<int:pk>/retire/", views.retire, name="retire"),
]
