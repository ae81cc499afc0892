"""Commands that have keys, other keys, or none."""

import re
from collections.abc import Mapping

import pytest

from tests.console.command import DONE, Surefoot
from workers.encryption.keys import parse_keys

KEYS, FILE = "SUREFOOT_ENCRYPTION_KEYS", "SUREFOOT_ENCRYPTION_KEYS_FILE"
OURS = "ours:" + "b3Vyc291cnNvdXJzb3Vyc291cnNvdXJzb3Vyc291cnM="
OTHER = "other:" + "b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVycnM="
SECRET = "b3Vyc29"


def test_a_new_key_is_one_line_for_a_file_of_keys(surefoot: Surefoot) -> None:
    made = [surefoot("keys", "new").stdout for _ in range(2)]
    file = surefoot.directory / "keys"
    file.write_text("".join(made))
    ids = parse_keys(file.read_text()).key_ids
    listed = surefoot("keys", "list", environment={FILE: str(file)}).stdout
    assert listed == f"{ids[0]}  encrypts and decrypts\n{ids[1]}  decrypts\n"


def test_without_a_key_the_list_is_empty_and_says_what_follows(surefoot: Surefoot) -> None:
    ended = surefoot("keys", "list")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (
        0,
        "",
        "no key is set: what runs say is stored as it is\n",
    )


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        pytest.param(
            {KEYS: f"{OURS[:-9]}"}, r"SUREFOOT_ENCRYPTION_KEYS: the key 'ours' has \d+ bytes: .*", id="cut"
        ),
        pytest.param(
            {KEYS: OURS.partition(":")[2]},
            r"SUREFOOT_ENCRYPTION_KEYS: key 1 has no id that can be used: .*",
            id="without an id",
        ),
        pytest.param(
            {FILE: "nowhere"},
            r"SUREFOOT_ENCRYPTION_KEYS_FILE names DIR/nowhere, which cannot be read: No such file .*",
            id="no such file",
        ),
        pytest.param(
            {KEYS: OURS, FILE: "keys"},
            r"SUREFOOT_ENCRYPTION_KEYS and SUREFOOT_ENCRYPTION_KEYS_FILE exclude each other: set one",
            id="in two places",
        ),
    ],
)
def test_keys_that_cannot_be_used_are_one_sentence_without_them(
    surefoot: Surefoot, environment: Mapping[str, str], sentence: str
) -> None:
    told = surefoot("run", "Go on.", "--model", f"scripted:{DONE}", environment=environment)
    complaint = told.stderr.replace(str(surefoot.directory), "DIR")
    assert (told.exit_code, told.stdout, SECRET in complaint) == (2, "", False)
    assert re.fullmatch(f"surefoot: {sentence}\n", complaint), complaint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "has"),
    [
        pytest.param({}, "this process has no keys", id="without a key"),
        pytest.param({KEYS: OTHER}, "this process has only 'other'", id="with another key"),
    ],
)
def test_a_run_whose_key_is_not_here_is_listed_and_otherwise_one_sentence(
    surefoot: Surefoot, keys: Mapping[str, str], has: str
) -> None:
    run = f"secret-{len(keys)}"
    ours = {KEYS: OURS}
    model = ("--model", f"scripted:{DONE}")
    assert surefoot("run", "Plot.", *model, "--workflow-id", run, environment=ours).exit_code == 0
    shown = surefoot("show", run, environment=ours)
    assert ("Plot." in shown.stdout, "Done." in shown.stdout) == (True, True)
    sentence = (
        f"surefoot: this is encrypted with the key 'ours', and {has}: "
        "add it to SUREFOOT_ENCRYPTION_KEYS or SUREFOOT_ENCRYPTION_KEYS_FILE\n"
    )
    for command in ("show", "watch"):
        refused = surefoot(command, run, environment=keys)
        assert (refused.exit_code, refused.stdout, refused.stderr) == (2, "", sentence)
    listed = surefoot("list", environment=keys)
    assert (listed.exit_code, run in listed.stdout, "Plot." in listed.stdout) == (0, True, False)
    assert "(encrypted with a key that is not here)" in listed.stdout
