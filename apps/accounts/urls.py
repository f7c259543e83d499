"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.api import people as people_api
from apps.accounts.pages import members, people, profile

pages = [
    path("login/", people.login, name="login"),
    path("logout/", people.logout, name="logout"),
    path("setup/<str:token>/", people.set_up, name="setup"),
    path("join/<str:token>/", people.join, name="join"),
    path("password-reset/", people.forgotten, name="password-reset"),
    path("reset/<str:token>/", people.reset, name="reset"),
    path("sso/", profile.begin, name="sso"),
    path("sso/return/", profile.come_back, name="sso-return"),
    path("profile/", profile.profile, name="profile"),
    path("profile/password/", profile.password, name="password"),
    path("profile/sessions/end/", profile.end_sessions, name="end-sessions"),
    path("profile/sessions/<int:visit_id>/end/", profile.end_session, name="end-session"),
    path("profile/tokens/revoke/", profile.revoke_tokens, name="revoke-tokens"),
    path("profile/tokens/<int:token_id>/revoke/", profile.revoke_token, name="revoke-own-token"),
    path("profile/link/", profile.link, name="link"),
    path("profile/unlink/", profile.unlink, name="unlink"),
    path("projects/new/", people.new_project, name="new-project"),
    path("people/", people.everybody, name="people"),
    path("people/<int:user_id>/deactivate/", people.deactivate, name="deactivate"),
    path("people/<int:user_id>/reopen/", people.reopen, name="reopen"),
    path("people/<int:user_id>/leave/", people.leaving, name="leave"),
    path("people/<int:user_id>/reset-link/", people.reset_link, name="reset-link"),
]

api = [
    path("", people_api.MemberList.as_view(), name="people"),
    path("<int:user_id>/roles/", people_api.MemberRolesView.as_view(), name="roles"),
    path("judge-myself/", people_api.JudgeMyself.as_view(), name="judge-myself"),
    path("invitations/", people_api.InvitationList.as_view(), name="invitations"),
    path("invitations/<int:invitation_id>/revoke/", people_api.InvitationRevoke.as_view(), name="revoke-invitation"),
]

project_pages = [
    path("people/", members.people, name="people"),
    path("people/invite/", members.invite, name="invite"),
    path("people/invitations/<int:invitation_id>/revoke/", members.revoke_invitation, name="revoke-invitation"),
    path("people/<int:user_id>/roles/", members.set_roles, name="roles"),
    path("settings/secrets/", members.secrets, name="secrets"),
    path("settings/secrets/<int:secret_id>/delete/", members.delete_secret, name="delete-secret"),
    path("settings/tokens/", members.tokens, name="tokens"),
    path("settings/agents/", members.agents, name="agents"),
    path("settings/tokens/<int:token_id>/revoke/", members.revoke_token, name="revoke-token"),
]
