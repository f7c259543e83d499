from django.urls import path

from apps.judging.views import judging, overview

app_name = "judging"
urlpatterns = [
    path("", overview.index, name="index"),
    path("guideline/<int:number>/", overview.index, name="guideline"),
    path("rounds/<int:pk>/judge/", judging.judge, name="judge"),
    path("rounds/<int:pk>/grade/", judging.grade, name="grade"),
    path("rounds/<int:pk>/pairs/", judging.pairs, name="pairs"),
    path("rounds/<int:pk>/release/", judging.release, name="release"),
]
