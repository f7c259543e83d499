"""The settings of a project in the API: its name and policies, its grades, and whether it is archived.

What a setting may be is said once, by the fields of the page's form.
"""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.actions.projects import archive_project, bring_back_project, change_project
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Project
from apps.common.web.api import body_in, change_in
from apps.common.web.forms import body_fields, checked
from apps.dashboard import rules
from apps.dashboard.actions.projects import change_scale
from apps.dashboard.forms import MOST_GRADES, SettingsForm, settings_of


class SettingsInput(serializers.Serializer):
    """The settings of the page, under the names that it gives them. What is left out stays as it is."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return body_fields(SettingsForm, required=False)


class GradeOut(serializers.Serializer):
    grade = serializers.IntegerField()
    name = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)


class SettingsOut(serializers.Serializer):
    """`scale_refusal` says why the grades can no longer be changed; null while they can."""

    slug = serializers.CharField()
    is_demo = serializers.BooleanField()
    archived_at = serializers.DateTimeField(allow_null=True)
    scale = GradeOut(many=True)
    scale_refusal = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        return body_fields(SettingsForm, required=True) | super().get_fields()


class GradeInput(serializers.Serializer):
    """A grade. `grade` may be left out: they count up from 0."""

    grade = serializers.IntegerField(required=False, min_value=0, max_value=MOST_GRADES - 1)
    name = serializers.CharField(max_length=40)
    hint = serializers.CharField(required=False, allow_blank=True, default="", max_length=80)


class ScaleInput(serializers.Serializer):
    """All grades, lowest first."""

    scale = serializers.ListField(child=GradeInput(), min_length=2, max_length=MOST_GRADES)

    def validate_scale(self, scale: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for place, each in enumerate(scale):
            if each.setdefault("grade", place) != place:
                raise serializers.ValidationError(
                    f"Grades count up from 0 without a gap. Grade {each['grade']} is at the place of {place}."
                )
        return [{"grade": each["grade"], "name": each["name"], "hint": each["hint"]} for each in scale]


class SettingsView(ProjectAPIView):
    """A change of the project as a whole, by a lead."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.SETTINGS_WRITE}

    def facts(self, project: Project) -> Response:
        facts = settings_of(project) | {
            "slug": project.slug,
            "is_demo": project.is_demo,
            "archived_at": project.archived_at,
            "scale": project.scale,
            "scale_refusal": rules.scale_refusal(project),
        }
        return Response(SettingsOut(facts).data)


class Settings(SettingsView):
    """Reads the settings; changes its name and policies."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.SETTINGS_READ, "POST": Scope.SETTINGS_WRITE}

    @extend_schema(operation_id="settings_read", responses=SettingsOut)
    def get(self, request: Request, slug: str) -> Response:
        return self.facts(self.project)

    @extend_schema(operation_id="settings_change", request=SettingsInput, responses=SettingsOut)
    def post(self, request: Request, slug: str) -> Response:
        given = change_in(request.data, SettingsInput).validated_data
        form = checked(SettingsForm(settings_of(self.project) | given, project=self.project))
        project = change_project(
            project_id=self.project.pk,
            name=form.cleaned_data["name"] if "name" in given else None,
            policies={name: value for name, value in form.policies.items() if name in given},
            actor=self.member.user,
            at=timezone.now(),
        )
        return self.facts(project)


class Scale(SettingsView):
    """Sets the grades, while nobody has graded."""

    @extend_schema(operation_id="settings_set_scale", request=ScaleInput, responses=SettingsOut)
    def post(self, request: Request, slug: str) -> Response:
        body = body_in(request.data, ScaleInput)
        scale = body.validated_data["scale"]
        return self.facts(
            change_scale(project_id=self.project.pk, scale=scale, actor=self.member.user, at=timezone.now())
        )


class Archive(SettingsView):
    """Makes the project read-only and hides it in the lists."""

    @extend_schema(operation_id="settings_archive", request=None, responses=SettingsOut)
    def post(self, request: Request, slug: str) -> Response:
        return self.facts(archive_project(project_id=self.project.pk, actor=self.member.user, at=timezone.now()))


class BringBack(SettingsView):
    """Ends the archiving. A project that is not archived stays as it is."""

    changes_archived: ClassVar = True

    @extend_schema(operation_id="settings_bring_back", request=None, responses=SettingsOut)
    def post(self, request: Request, slug: str) -> Response:
        return self.facts(bring_back_project(project_id=self.project.pk, actor=self.member.user, at=timezone.now()))
