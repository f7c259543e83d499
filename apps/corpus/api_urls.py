app_name = "corpus-api"
urlpatterns: list = []
