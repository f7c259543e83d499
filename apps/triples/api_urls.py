app_name = "triples-api"
urlpatterns: list = []
