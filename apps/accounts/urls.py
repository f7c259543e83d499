from django.urls import path

from apps.accounts import views

app_name = "accounts"
urlpatterns = [
    path("login/", views.login, name="login"),
    path("logout/", views.logout, name="logout"),
    path("setup/<str:token>/", views.set_up, name="setup"),
    path("join/<str:token>/", views.join, name="join"),
    path("profile/", views.profile, name="profile"),
    path("profile/password/", views.password, name="password"),
    path("projects/new/", views.new_project, name="new-project"),
    path("people/", views.everybody, name="everybody"),
    path("people/<int:user_id>/deactivate/", views.deactivate, name="deactivate"),
]
