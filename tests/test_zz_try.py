import time, pytest
from tests import database
from tests.large import build_large, SMALL, FULL
@pytest.mark.django_db(transaction=True)
def test_x():
    t=time.time(); build_large(SMALL); print(time.time()-t)
