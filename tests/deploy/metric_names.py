"""The names of metrics that dashboards and alerts may speak of."""

SUREFOOT_METRICS = frozenset(
    {
        "surefoot_tool_executions_total",
        "surefoot_turn_seconds",
        "surefoot_tokens_total",
        "surefoot_cost_dollars_total",
        "surefoot_queue_wait_seconds",
    }
)
"""Ours; a histogram goes by its name without `_bucket`, `_sum` and `_count`."""
