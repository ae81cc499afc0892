"""Who may ask a codec server, as the settings say."""

import re

from workers.codec_server.guards import LEAST_TOKEN_LENGTH, AnyGuard, Guard, TokenGuard
from workers.codec_server.issuer import Issuer, IssuerError
from workers.settings import PREFIX, Settings, SettingsError


async def configured_guard(settings: Settings) -> Guard | None:
    """Give the guard of these settings, None where they name nobody; an issuer is asked for its keys.

    Raises:
        SettingsError: the token is too short, or the issuer cannot be used.
    """
    guards: list[Guard] = []
    if settings.codec_token is not None:
        # What a header can carry.
        if not re.fullmatch(rf"[!-~]{{{LEAST_TOKEN_LENGTH},}}", settings.codec_token):
            raise SettingsError(
                f"{PREFIX}CODEC_TOKEN has to have {LEAST_TOKEN_LENGTH} characters or more, "
                "of ASCII and none a space"
            )
        guards.append(TokenGuard(settings.codec_token))
    if settings.codec_oidc_issuer is not None:
        issuer = Issuer(settings.codec_oidc_issuer, audience=settings.codec_oidc_audience or "")
        try:
            await issuer.load()
        except IssuerError as error:
            raise SettingsError(f"{PREFIX}CODEC_OIDC_ISSUER cannot be used: {error}") from None
        guards.append(issuer)
    return AnyGuard(tuple(guards)) if guards else None
