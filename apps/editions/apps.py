from django.apps import AppConfig


class EditionsConfig(AppConfig):
    name = "apps.editions"
    label = "editions"
