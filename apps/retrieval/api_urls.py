app_name = "retrieval-api"
urlpatterns: list = []
