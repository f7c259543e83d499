"""Pages of a project's members, invitations, tokens and secrets."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import selectors
from apps.accounts.access.pages import MemberRequest, member_of, member_view
from apps.accounts.actions import invitations, projects
from apps.accounts.actions import tokens as account_tokens
from apps.accounts.actions.invitations import Invited
from apps.accounts.actions.secrets import delete_secret as forget_secret
from apps.accounts.actions.secrets import save_secret
from apps.accounts.enums import Role
from apps.accounts.forms import ROLE_WORDS, InviteForm, RolesForm, SecretForm, TokenForm
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.hooks import has_mail_server
from apps.common.web.requests import link_for_others, reach_warning

AGENTS = "agents_may_work"


@member_view()
@require_safe
def people(request: MemberRequest, project: Project) -> HttpResponse:
    return _people(request, project)


def _people(
    request: MemberRequest,
    project: Project,
    *,
    form: InviteForm | None = None,
    invited: list[Invited] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "standings": selectors.people_with_roles(project),
        "invitations": selectors.open_invitations(project, timezone.now()) if request.member.is_lead else [],
        "role_words": [(role.value, words) for role, words in ROLE_WORDS.items()],
        "form": form or InviteForm(),
        "invited": invited or [],
        "reach_warning": reach_warning(link_for_others(request, "/")) if request.member.is_lead else "",
        "has_mail_server": has_mail_server(),
    }
    return render(request, "accounts/people.html", context, status=status)


@member_view(Role.LEAD)
@require_POST
def invite(request: MemberRequest, project: Project) -> HttpResponse:
    """Invite everybody in the form and show their links, once. A list is shown first, and sent again to confirm it."""
    form = InviteForm(request.POST, request.FILES)
    if not form.is_valid():
        return _people(request, project, form=form, status=400)
    if "change" in request.POST:
        return _people(request, project, form=form)
    if form.is_list and "confirmed" not in request.POST:
        return _preview(request, project, form)
    invited = invitations.invite_several(
        project=project,
        actor=request.user,
        guests=form.cleaned_data["guests"],
        link_of=lambda token: link_for_others(request, reverse("accounts:join", kwargs={"token": token})),
        by_mail=form.cleaned_data["by_mail"],
        key=form.cleaned_data["key"],
        at=timezone.now(),
    )
    return _people(request, project, invited=invited)


def _preview(request: MemberRequest, project: Project, form: InviteForm) -> HttpResponse:
    guests = form.cleaned_data["guests"]
    known = selectors.known_guests(project, [guest.email for guest in guests], timezone.now())
    is_mailed = has_mail_server() and form.cleaned_data["by_mail"]
    context = {
        "form": form,
        "guests": [(guest, known.get(guest.email, "")) for guest in guests],
        "mailed": sum(bool(guest.email) for guest in guests) if is_mailed else 0,
        "has_mail_server": has_mail_server(),
    }
    return render(request, "accounts/invite_preview.html", context)


@member_view(Role.LEAD)
@require_POST
def revoke_invitation(request: MemberRequest, project: Project, invitation_id: int) -> HttpResponse:
    invitations.revoke_invitation(invitation_id=invitation_id, project=project, actor=request.user, at=timezone.now())
    messages.success(request, "The invitation is withdrawn; its link no longer works.")
    return redirect("people:people", slug=project.slug)


@member_view(Role.LEAD)
@require_POST
def set_roles(request: MemberRequest, project: Project, user_id: int) -> HttpResponse:
    user = selectors.member_user(project, user_id)
    form = RolesForm(request.POST)
    if not form.is_valid():
        return _people(request, project, status=400)
    roles = projects.set_roles(
        project=project, user=user, roles=form.cleaned_data["roles"], actor=request.user, at=timezone.now()
    )
    words = f"{user} is now {', '.join(sorted(roles))}." if roles else f"{user} no longer belongs to this project."
    messages.success(request, words)
    if not selectors.roles_of(request.user, project):
        return redirect("dashboard:start")
    return redirect("people:people", slug=project.slug)


@member_view()
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: MemberRequest, project: Project) -> HttpResponse:
    form = TokenForm(request.POST or None)
    secret = ""
    if request.method == "POST" and form.is_valid():
        _, secret = account_tokens.create_token(
            project=project,
            user=request.user,
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            lasts=form.lasts,
            key=form.cleaned_data["key"],
            at=timezone.now(),
        )
        form = TokenForm()
    at = timezone.now()
    context = {
        "tokens": selectors.tokens_of(request.user, project),
        "form": form,
        "secret": secret,
        "now": at,
        "agents": selectors.agents_in(project, at) if member_of(request).is_lead else None,
        "agents_may_work": selectors.policy(project, AGENTS),
    }
    return render(request, "accounts/tokens.html", context, status=400 if form.errors else 200)


@member_view(Role.LEAD)
@require_POST
def agents(request: MemberRequest, project: Project) -> HttpResponse:
    """Pause every agent of the project, or let all work again."""
    may_work = "work" in request.POST
    projects.change_project(project_id=project.pk, policies={AGENTS: may_work}, actor=request.user, at=timezone.now())
    words = "Agents may work again." if may_work else "Every agent is paused: what it asks is refused from now on."
    messages.success(request, words)
    return redirect("people:tokens", slug=project.slug)


@member_view(changes_archived=True)
@require_POST
def revoke_token(request: MemberRequest, project: Project, token_id: int) -> HttpResponse:
    token = account_tokens.revoke_token(token_id=token_id, project=project, user=request.user, at=timezone.now())
    messages.success(request, f"{token.name} is revoked. Requests that use it are rejected from now on.")
    return redirect("people:tokens", slug=project.slug)


@sensitive_post_parameters("value")
@sensitive_variables("form", "values")
@member_view(Role.LEAD)
@require_http_methods(["GET", "HEAD", "POST"])
def secrets(request: MemberRequest, project: Project) -> HttpResponse:
    """The names of the project's secrets, and the form that saves one."""
    form = SecretForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            secret = save_secret(project=project, **values, actor=request.user, at=timezone.now())
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            messages.success(request, f"{secret.name} is saved. Systems use it by its name; its value is never shown.")
            return redirect("people:secrets", slug=project.slug)
    context = {"secrets": selectors.secrets_in(project), "form": form}
    return render(request, "accounts/secrets.html", context, status=400 if form.errors else 200)


@member_view(Role.LEAD)
@require_POST
def delete_secret(request: MemberRequest, project: Project, secret_id: int) -> HttpResponse:
    name = forget_secret(project=project, secret_id=secret_id, actor=request.user, at=timezone.now())
    messages.success(request, f"{name} is deleted. Systems that use it can no longer sign in.")
    return redirect("people:secrets", slug=project.slug)
