import pytest
from django.urls import reverse

from apps.judging.models import Guideline
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db


def test_the_guideline_is_written_read_and_versioned(client):
    project = make_project()
    client.force_login(lead_of(project))
    new = reverse("judging:guideline-new", args=[project.slug])
    data = {"markdown": "Take the **lower** one. <script>alert(1)</script> [x](javascript:alert(1))"}
    for grade in range(4):
        data |= {f"name_{grade}": f"G{grade}", f"definition_{grade}": f"When {grade}."}
        data |= {f"example_{grade}_1_text": "a", f"example_{grade}_3_text": "b", f"example_{grade}_3_why": "since"}

    assert "Same subject only" in client.get(new).content.decode()
    answer = client.post(new, data, follow=True)

    text = answer.content.decode()
    assert "<strong>lower</strong>" in text
    assert "<script>alert" not in text
    assert "javascript:" not in text.split('class="guideline-text"')[1].split("</div>")[0].replace("(javascript:", "")
    assert Guideline.objects.get().grades[2] == {
        "grade": 2, "name": "G2", "definition": "When 2.",
        "examples": ["a", {"query": "", "text": "b", "why": "since"}],
    }  # fmt: skip
    assert client.post(new, data).status_code == 400
