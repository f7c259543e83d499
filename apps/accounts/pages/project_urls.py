from django.urls import path

from apps.accounts.pages import members as views

app_name = "people"
urlpatterns = [
    path("people/", views.people, name="people"),
    path("people/invite/", views.invite, name="invite"),
    path("people/invitations/<int:invitation_id>/revoke/", views.revoke_invitation, name="revoke-invitation"),
    path("people/<int:user_id>/roles/", views.set_roles, name="roles"),
    path("settings/secrets/", views.secrets, name="secrets"),
    path("settings/secrets/<int:secret_id>/delete/", views.delete_secret, name="delete-secret"),
    path("settings/tokens/", views.tokens, name="tokens"),
    path("settings/tokens/<int:token_id>/revoke/", views.revoke_token, name="revoke-token"),
]
