"""What `surefoot doctor` looks at of what keeps secrets and decisions safe."""

from activities.tools.sandbox.level import LEVELS
from activities.tools.sandbox.probe import why_not
from activities.tools.secrets.source import SecretSource
from console.findings import Finding, fail, ok, warn
from workers.authority import authority_key_of, authority_of
from workers.encryption.configured_keys import configured_keys
from workers.environment import process_environment
from workers.settings import Settings, SettingsError
from workers.walls import sandbox_of


def security_findings(settings: Settings, *, named: bool) -> list[Finding]:
    """Check keys and secrets; whether a server is `named` tells who may read its database."""
    return [
        _sandbox(settings),
        _encryption(settings, named=named),
        *_authority(settings),
        *_secrets(),
    ]


def _sandbox(settings: Settings) -> Finding:
    try:
        level = sandbox_of(settings).level
    except SettingsError as error:
        return fail("sandbox", str(error))
    stronger = LEVELS[: LEVELS.index(level)]
    reasons = "; ".join(f"not {one}: {why_not(one) or 'SUREFOOT_SANDBOX says so'}" for one in stronger)
    sentence = f"executables run at the level {level}{f', {reasons}' if reasons else ''}"
    if level == "none":
        return warn("sandbox", f"{sentence}; what destroys needs approval (docs/sandbox.md)")
    return ok("sandbox", sentence)


def _encryption(settings: Settings, *, named: bool) -> Finding:
    try:
        keys = configured_keys(settings).key_ids
    except SettingsError as error:
        return fail("encryption", str(error))
    if keys:
        verb = "decrypts" if len(keys) == 2 else "decrypt"
        older = f"; {', '.join(keys[1:])} {verb}, too" if keys[1:] else ""
        return ok("encryption", f"what runs say is encrypted with the key {keys[0]}{older}")
    sentence = "there is no key, and whoever reads the server's database reads what runs say"
    if named:
        return warn("encryption", f"{sentence}: docs/encryption.md has how to make one")
    return ok("encryption", f"{sentence}; here that is you")


def _authority(settings: Settings) -> list[Finding]:
    try:
        keys, own = authority_of(settings), authority_key_of(settings)
    except SettingsError as error:
        return [fail("authority", str(error))]
    if keys:
        count = "one key" if len(keys) == 1 else f"one of {len(keys)} keys"
        here = "decisions made here are signed" if own else "decisions made here are not signed, and refused"
        return [ok("authority", f"runs started here take only decisions signed with {count}; {here}")]
    if own:
        return [ok("authority", "decisions made here are signed; runs started here take any")]
    return []


def _secrets() -> list[Finding]:
    source = SecretSource.of(process_environment())
    if not source:
        return []
    problems = [str(problem) for problem in source.problems()]
    if problems:
        return [fail("secrets", "; ".join(problems))]
    names = ", ".join(sorted(source.read())) or "none"
    return [ok("secrets", f"for tools that are allowed them: {names}")]
