from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "apps.goldsets"
    label = "goldsets"
