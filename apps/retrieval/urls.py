app_name = "retrieval"
urlpatterns: list = []
