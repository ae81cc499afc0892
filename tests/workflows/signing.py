"""Keys of an authority, and decisions that are signed with them, for tests."""

from datetime import timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from surefoot.authority import public_key_text
from surefoot.decision_token import Asking
from surefoot.run import Approve, Deny
from workers.authority_key import VALIDITY, AuthorityKey

ADA = AuthorityKey(Ed25519PrivateKey.from_private_bytes(b"\x01" * 32))
EVE = AuthorityKey(Ed25519PrivateKey.from_private_bytes(b"\x02" * 32))
AUTHORITY = (public_key_text(ADA.public, "ada"),)


def signed(
    request: Approve | Deny, asking: Asking, *, key: AuthorityKey = ADA, validity: timedelta = VALIDITY
) -> Approve | Deny:
    """Give the decision with a token."""
    return request.model_copy(update={"token": key.token(request, asking, validity)})
