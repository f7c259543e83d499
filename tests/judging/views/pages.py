"""Pages of a round as a test asks for them."""

from django.urls import reverse


def url(name, round_, *more):
    return reverse(f"judging:{name}", args=[round_.project.slug, round_.pk, *more])


def page(client, name, round_, *more, **query):
    return client.get(url(name, round_, *more), query)
