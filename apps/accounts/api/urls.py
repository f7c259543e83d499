from django.urls import path

from apps.accounts.api import people

app_name = "people-api"

urlpatterns = [
    path("", people.MemberList.as_view(), name="people"),
    path("<int:user_id>/roles/", people.MemberRolesView.as_view(), name="roles"),
    path("judge-myself/", people.JudgeMyself.as_view(), name="judge-myself"),
    path("invitations/", people.InvitationList.as_view(), name="invitations"),
    path("invitations/<int:invitation_id>/revoke/", people.InvitationRevoke.as_view(), name="revoke-invitation"),
]
