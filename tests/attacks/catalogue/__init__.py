"""Everything that the suite tries."""

from tests.attacks.catalogue.files import FILES
from tests.attacks.catalogue.kernel import KERNEL
from tests.attacks.catalogue.network import NETWORK
from tests.attacks.catalogue.processes import PROCESSES
from tests.attacks.catalogue.resources import RESOURCES
from tests.attacks.catalogue.secrets import SECRETS
from tests.attacks.catalogue.terminal import TERMINAL

ATTACKS = (*SECRETS, *FILES, *NETWORK, *PROCESSES, *KERNEL, *RESOURCES, *TERMINAL)
