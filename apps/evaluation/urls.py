from django.urls import include, path

from apps.evaluation import views

PAIR = [
    path("", views.compare, name="compare"),
    path("decide/", views.decide, name="decide"),
    path("export/", views.export, name="export"),
    path("queries/<int:pk>/", views.query_page, name="query"),
]

app_name = "evaluation"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("<int:pk>/", views.evaluation_page, name="evaluation"),
    path("version/<int:version_pk>/score/", views.score, name="score"),
    path("compare/", views.pick, name="pick"),
    path("compare/<int:baseline>/<int:candidate>/", include(PAIR)),
]
