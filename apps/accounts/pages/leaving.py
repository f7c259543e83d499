"""The page on which an operator has somebody leave, after seeing what is taken and what stays."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts import rules, selectors
from apps.accounts.actions.leaving import leave
from apps.accounts.edges.access import PersonRequest, operator_view
from apps.accounts.execution.leaving import held_by
from apps.accounts.forms import LeavingForm
from apps.accounts.models import User
from apps.accounts.rules import PeopleRefused


@operator_view
@require_http_methods(["GET", "HEAD", "POST"])
def leaving(request: PersonRequest, user_id: int) -> HttpResponse:
    user, at = selectors.user_or_404(user_id), timezone.now()
    if reason := rules.leaving_refusal(request.user, user):
        raise PeopleRefused(reason, code="not_leaving")
    form = _form(request, user)
    if request.method == "POST" and form.is_valid():
        leave(user_id=user.pk, actor=request.user, heir=form.cleaned_data.get("heir"), at=at)
        messages.success(request, f"{user} has left. What they did stays under their name.")
        return redirect("accounts:everybody")
    context = {
        "person": user,
        "holdings": held_by(user, at),
        "alone": selectors.led_alone_by(user),
        "form": form,
    }
    return render(request, "accounts/leaving.html", context, status=400 if form.errors else 200)


def _form(request: PersonRequest, user: User) -> LeavingForm:
    alone = selectors.led_alone_by(user).exists()
    heirs = selectors.everybody().filter(is_active=True).exclude(pk=user.pk) if alone else None
    return LeavingForm(request.POST or None, user=user, heirs=heirs, initial={"heir": request.user})
