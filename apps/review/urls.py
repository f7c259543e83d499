from django.urls import path

from apps.review import board_views, export_views, pages, splits, stale, views

app_name = "review"
urlpatterns = [
    path("", views.queue, name="queue"),
    path("next/", views.next_triple, name="next"),
    path("<int:pk>/", views.screen, name="screen"),
    path("<int:pk>/verdict/", views.verdict, name="verdict"),
    path("<int:pk>/skip/", views.skip, name="skip"),
    path("pull/", views.pull, name="pull"),
    path("board/", board_views.board, name="board"),
    path("board/re-seat/", board_views.re_seat, name="re_seat"),
    path("board/remind/", board_views.remind, name="remind"),
    path("stale/", stale.listing, name="stale"),
    path("stale/next/", stale.following, name="stale_next"),
    path("stale/<int:pk>/", stale.screen, name="stale_triple"),
    path("stale/<int:pk>/pin/", stale.pin, name="stale_pin"),
    path("stale/<int:pk>/retire/", stale.retire, name="stale_retire"),
    path("triples/export/", export_views.export, name="export"),
    path("triples/export/file/", export_views.export_file, name="export_file"),
    path("triples/submit/", pages.submit, name="submit_new"),
    path("triples/<int:pk>/", pages.triple, name="triple"),
    path("triples/<int:pk>/flags/", pages.flags, name="flags"),
    path("triples/<int:pk>/submit/", pages.submit, name="submit"),
    path("triples/<int:pk>/revise/", pages.begin, name="begin"),
    path("triples/<int:pk>/re-pin/", pages.re_pin, name="re_pin"),
    path("triples/<int:pk>/message/", pages.message, name="message"),
    path("triples/<int:pk>/withdraw-flag/", pages.withdraw_flag, name="withdraw_flag"),
    path("triples/<int:pk>/split/", splits.split, name="split"),
    path("triples/<int:pk>/drop/", pages.drop, name="drop"),
    path("triples/<int:pk>/adjudicate/", pages.adjudicate, name="adjudicate"),
]
