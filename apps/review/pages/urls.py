from django.urls import path

from apps.review.pages import board, claims, exports, reviewing, stale, triple

app_name = "review"
urlpatterns = [
    path("", reviewing.queue, name="queue"),
    path("next/", reviewing.next_triple, name="next"),
    path("<int:pk>/", reviewing.screen, name="screen"),
    path("<int:pk>/verdict/", reviewing.verdict, name="verdict"),
    path("<int:pk>/skip/", reviewing.skip, name="skip"),
    path("pull/", reviewing.pull, name="pull"),
    path("board/", board.board, name="board"),
    path("board/re-seat/", board.re_seat, name="re-seat"),
    path("board/remind/", board.remind, name="remind"),
    path("stale/", stale.listing, name="stale"),
    path("stale/next/", stale.following, name="stale-next"),
    path("stale/retire/", stale.retire_many, name="stale-retire-many"),
    path("stale/<int:pk>/", stale.screen, name="stale-triple"),
    path("stale/<int:pk>/pin/", stale.pin, name="stale-pin"),
    path("stale/<int:pk>/retire/", stale.retire, name="stale-retire"),
    path("triples/export/", exports.export, name="export"),
    path("triples/export/file/", exports.export_file, name="export-file"),
    path("triples/submit/", triple.submit, name="submit-new"),
    path("triples/<int:pk>/", triple.triple, name="triple"),
    path("triples/<int:pk>/flags/", triple.flags, name="flags"),
    path("triples/<int:pk>/submit/", triple.submit, name="submit"),
    path("triples/<int:pk>/revise/", triple.begin, name="begin"),
    path("triples/<int:pk>/re-pin/", triple.re_pin, name="re-pin"),
    path("triples/<int:pk>/message/", triple.message, name="message"),
    path("triples/<int:pk>/withdraw-flag/", triple.withdraw_flag, name="withdraw-flag"),
    path("triples/<int:pk>/split/", claims.split, name="split"),
    path("triples/<int:pk>/drop/", triple.drop, name="drop"),
    path("triples/<int:pk>/adjudicate/", triple.adjudicate, name="adjudicate"),
]
