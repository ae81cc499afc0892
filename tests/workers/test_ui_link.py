import pytest

from workers.ui_link import run_url


@pytest.mark.parametrize(
    ("workflow_id", "encoded"),
    [
        pytest.param("surefoot-1", "surefoot-1", id="plain"),
        pytest.param("nightly/2 files", "nightly%2F2%20files", id="a slash and a space"),
        pytest.param("100% of a?b#c", "100%25%20of%20a%3Fb%23c", id="what a URL would take for its own"),
        pytest.param("größe", "gr%C3%B6%C3%9Fe", id="not ASCII"),
    ],
)
def test_a_link_leads_to_the_history_of_a_run(workflow_id: str, encoded: str) -> None:
    url = run_url("http://127.0.0.1:8233/", namespace="default", workflow_id=workflow_id, run_id="0b5e")

    assert url == f"http://127.0.0.1:8233/namespaces/default/workflows/{encoded}/0b5e/history"
