import time

import pytest

from tests.large import SMALL, build_large


@pytest.mark.django_db(transaction=True)
def test_x():
    t = time.time()
    build_large(SMALL)
    print(time.time() - t)
