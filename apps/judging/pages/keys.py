"""A person's own keys for the judging screen."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.edges.access import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging.actions.keys import KeysRefused, choose_keys, reset_keys
from apps.judging.forms.judging import KeysForm
from apps.judging.selectors.keys import own_keys


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.ANNOTATOR)
def keys(request: HttpRequest, project: Project) -> HttpResponse:
    """Give each act of the judging screen a key."""
    person = user_of(request)
    form = KeysForm(request.POST or None, scale=project.scale, chosen=own_keys(person))
    if request.method == "POST" and form.is_valid():
        try:
            choose_keys(person=person, keys=form.keys, digits_are_free=form.cleaned_data["digits_are_free"])
        except KeysRefused as refusal:
            form.blame(refusal.faults)
        else:
            messages.success(request, "Your keys are saved. They apply in every project.")
            return redirect("judging:keys", project.slug)
    status = 400 if form.is_bound else 200
    return render(request, "judging/keys.html", {"section": "Rounds", "form": form}, status=status)


@require_POST
@member_view(Role.ANNOTATOR)
def keys_reset(request: HttpRequest, project: Project) -> HttpResponse:
    """Give every act its default key again."""
    reset_keys(person=user_of(request))
    messages.success(request, "The default keys are restored.")
    return redirect("judging:keys", project.slug)
