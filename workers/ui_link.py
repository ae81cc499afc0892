"""Links into the Temporal UI."""

from urllib.parse import quote


def run_url(ui_url: str, *, namespace: str, workflow_id: str, run_id: str) -> str:
    """Give the address of a run's history in the UI.

    The UI reads each part of the path after percent-decoding it, so `/` and the like in an id must be
    encoded (temporalio/ui, `route-for.ts`).
    """
    namespace, workflow_id, run_id = (quote(part, safe="") for part in (namespace, workflow_id, run_id))
    return f"{ui_url.rstrip('/')}/namespaces/{namespace}/workflows/{workflow_id}/{run_id}/history"
