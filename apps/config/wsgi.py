import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
application = get_wsgi_application()

from apps.config.celery import prepare  # noqa: E402  Django comes first

prepare()  # a web server sends messages: not the first request loads what that takes
