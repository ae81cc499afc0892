"""What a worker that only carries runs tells them: where others serve their tools and ask their model."""

from temporalio import activity

from activities.interface import LIST_TOOLS, ToolList, ToolListRequest


class Directions:
    """`list_tools` of a worker that has none."""

    def __init__(self, *, tools_queue: str, model_queue: str) -> None:
        self._answer = ToolList(tools=(), tools_queue=tools_queue, model_queue=model_queue)

    @activity.defn(name=LIST_TOOLS)
    async def list_tools(self, _request: ToolListRequest | None = None) -> ToolList:
        """Name the two queues, whichever tools are asked for."""
        return self._answer
