"""What is taken away from one process and from all that it starts."""

import json
from dataclasses import dataclass

from activities.tools.sandbox.level import Level
from surefoot.resource_limits import ResourceLimits

NO_LIMITS = ResourceLimits(
    processes=None, memory_bytes=None, open_files=None, file_size_bytes=None, cpu_seconds=None
)


@dataclass(frozen=True)
class Confinement:
    """How the supervisor of a process is started, and what it is told to take away."""

    level: Level = "none"
    resources: ResourceLimits = NO_LIMITS
    before: tuple[str, ...] = ()
    """At bwrap: the program that starts the supervisor in namespaces of its own, and its arguments."""
    read: tuple[str, ...] = ()
    """At landlock: what can be read."""
    write: tuple[str, ...] = ()
    """At landlock: what can be written, too."""
    network: bool = True
    """Whether the network can be reached."""

    def policy_json(self) -> str:
        """Say it to the supervisor, as `supervisor_policy.Policy`."""
        policy = {"level": self.level, "network": self.network, "read": self.read, "write": self.write}
        return json.dumps(policy | self.resources.model_dump(by_alias=False))


UNWALLED = Confinement()
"""No walls and no limits; privileges are given up all the same."""
