from django.urls import path

from apps.accounts.pages import people

app_name = "accounts"
urlpatterns = [
    path("login/", people.login, name="login"),
    path("logout/", people.logout, name="logout"),
    path("setup/<str:token>/", people.set_up, name="setup"),
    path("join/<str:token>/", people.join, name="join"),
    path("forgotten/", people.forgotten, name="forgotten"),
    path("reset/<str:token>/", people.reset, name="reset"),
    path("profile/", people.profile, name="profile"),
    path("profile/password/", people.password, name="password"),
    path("projects/new/", people.new_project, name="new-project"),
    path("people/", people.everybody, name="everybody"),
    path("people/<int:user_id>/deactivate/", people.deactivate, name="deactivate"),
    path("people/<int:user_id>/reset-link/", people.reset_link, name="reset-link"),
]
