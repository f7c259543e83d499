from django.apps import AppConfig


class TriplesConfig(AppConfig):
    name = "apps.triples"
    label = "triples"
