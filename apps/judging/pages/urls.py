from django.urls import path

from apps.judging.pages import adjudication, board, guidelines, judging, placeholders, planning, propagation, settling

app_name = "judging"
urlpatterns = [
    path("", board.index, name="index"),
    path("mine/", board.mine, name="mine"),
    path("guideline/", guidelines.latest, name="guideline-latest"),
    path("guideline/new/", guidelines.new, name="guideline-new"),
    path("guideline/<int:number>/", guidelines.version, name="guideline"),
    path("guideline/<int:number>/changes/", guidelines.differences, name="guideline-changes"),
    path("guideline/<int:number>/keep/", guidelines.keep, name="guideline-keep"),
    path("keys/", judging.keys, name="keys"),
    path("keys/reset/", judging.keys_reset, name="keys-reset"),
    path("names/", placeholders.placeholders, name="placeholders"),
    path("names/<int:pk>/claim/", placeholders.claim, name="claim-placeholder"),
    path("names/<int:pk>/end/", placeholders.end, name="end-claim"),
    path("rounds/new/", planning.new_round, name="new-round"),
    path("rounds/new/preview/", planning.preview, name="preview"),
    path("rounds/<int:pk>/", board.round_page, name="round"),
    path("rounds/<int:pk>/open-the-rest/", planning.open_the_rest, name="open-the-rest"),
    path("rounds/<int:pk>/give-back/", board.give_back, name="give-back"),
    path("rounds/<int:pk>/close/", board.close, name="close"),
    path("rounds/<int:pk>/judge/", judging.judge, name="judge"),
    path("rounds/<int:pk>/grade/", judging.grade, name="grade"),
    path("rounds/<int:pk>/pairs/", judging.pairs, name="pairs"),
    path("rounds/<int:pk>/earlier/", judging.earlier, name="earlier"),
    path("rounds/<int:pk>/release/", judging.release, name="release"),
    path("rounds/<int:pk>/adjudicate/", adjudication.queue, name="adjudicate"),
    path("pools/<int:pk>/carry/", propagation.carry, name="carry"),
    path("rounds/<int:pk>/settle/", settling.settle, name="settle"),
    path("rounds/<int:pk>/adjudicate/<int:entry>/", adjudication.pair, name="adjudicate-pair"),
]
