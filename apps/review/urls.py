from django.urls import path

from apps.review import pages, views

app_name = "review"
urlpatterns = [
    path("", views.queue, name="queue"),
    path("next/", views.next_triple, name="next"),
    path("<int:pk>/", views.screen, name="screen"),
    path("<int:pk>/verdict/", views.verdict, name="verdict"),
    path("triples/submit/", pages.submit, name="submit_new"),
    path("triples/<int:pk>/", pages.triple, name="triple"),
    path("triples/<int:pk>/submit/", pages.submit, name="submit"),
    path("triples/<int:pk>/revise/", pages.begin, name="begin"),
    path("triples/<int:pk>/re-pin/", pages.re_pin, name="re_pin"),
    path("triples/<int:pk>/message/", pages.message, name="message"),
    path("triples/<int:pk>/withdraw-flag/", pages.withdraw_flag, name="withdraw_flag"),
    path("triples/<int:pk>/split/", pages.split, name="split"),
    path("triples/<int:pk>/drop/", pages.drop, name="drop"),
    path("triples/<int:pk>/adjudicate/", pages.adjudicate, name="adjudicate"),
]
