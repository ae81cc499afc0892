"""The activities that a worker of each role registers."""

from collections.abc import Callable, Sequence
from typing import Any

from temporalio.client import Client

from activities.boundary import ToolActivities
from activities.compaction import Compaction
from activities.conversation_cache import ConversationCache
from activities.conversations import Conversations
from activities.directions import Directions
from activities.heartbeats import BeatIntervals
from activities.llm_turn import LlmTurns, OpenModel
from activities.notices.notify import Notifying
from activities.queues import QueueActivities
from activities.store.store import Store
from activities.tools.executor import ToolExecutor
from activities.tools.tool_sets import ToolSets
from workers.roles import Role, queue_of

Activities = Sequence[Callable[..., Any]]


def run_activities(client: Client, notifying: Notifying, *, queue: str, role: Role) -> Activities:
    """Give what a worker that carries runs needs beside its workflow; in a role, directions to the others."""
    describe_queue = QueueActivities(client).describe_queue
    if role == "all":
        return [describe_queue, notifying.notify_people]
    directions = Directions(tools_queue=queue_of("tools", queue), model_queue=queue_of("llm", queue))
    return [describe_queue, notifying.notify_people, directions.list_tools]


def model_activities(open_model: OpenModel, store: Store, intervals: BeatIntervals) -> Activities:
    """Give what asks models, and keeps their conversations."""
    conversations = Conversations(ConversationCache(), store)
    turns = LlmTurns(open_model, conversations=conversations, intervals=intervals)
    compaction = Compaction(open_model, conversations=conversations, intervals=intervals)
    return [turns.llm_turn, compaction.compact_context, conversations.keep_conversation]


def tool_activities(
    executor: ToolExecutor, tool_sets: ToolSets, intervals: BeatIntervals, *, identity: str
) -> Activities:
    """Give what lists tools and runs them; of each run, those that `tool_sets` tell."""
    activities = ToolActivities(executor, identity=identity, intervals=intervals, tool_sets=tool_sets)
    return [activities.list_tools, activities.run_tool]
