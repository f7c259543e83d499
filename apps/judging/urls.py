from django.urls import path

from apps.judging.views import adjudication, guidelines, judging, overview, planning

app_name = "judging"
urlpatterns = [
    path("", overview.index, name="index"),
    path("guideline/", guidelines.latest, name="guideline_latest"),
    path("guideline/new/", guidelines.new, name="guideline_new"),
    path("guideline/<int:number>/", guidelines.version, name="guideline"),
    path("rounds/new/", planning.new_round, name="new_round"),
    path("rounds/new/preview/", planning.preview, name="preview"),
    path("rounds/<int:pk>/", overview.round_page, name="round"),
    path("rounds/<int:pk>/close/", overview.close, name="close"),
    path("rounds/<int:pk>/judge/", judging.judge, name="judge"),
    path("rounds/<int:pk>/grade/", judging.grade, name="grade"),
    path("rounds/<int:pk>/pairs/", judging.pairs, name="pairs"),
    path("rounds/<int:pk>/release/", judging.release, name="release"),
    path("rounds/<int:pk>/adjudicate/", adjudication.queue, name="adjudicate"),
    path("rounds/<int:pk>/adjudicate/<int:entry>/", adjudication.pair, name="adjudicate_pair"),
]
