app_name = "triples"
urlpatterns: list = []
