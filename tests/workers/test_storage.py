from pathlib import Path

import pytest

from workers.settings import Settings, SettingsError, load_settings
from workers.storage import open_store


def test_the_store_is_in_the_state_directory_unless_told_otherwise(tmp_path: Path) -> None:
    settings = Settings(state_directory=tmp_path)

    store = open_store(settings, {})

    assert store.file("a/b") == tmp_path / "store" / "a" / "b"
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("given", "location"),
    [
        pytest.param("/var/lib/surefoot", "/var/lib/surefoot", id="a directory"),
        pytest.param("s3://bucket", "s3://bucket", id="a bucket"),
        pytest.param("s3://bucket.of-ours/a/b/", "s3://bucket.of-ours/a/b", id="a bucket and a prefix"),
    ],
)
def test_the_environment_says_where_the_store_is(
    given: str, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_STORE", given)

    assert load_settings().store_location == location


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param("s3://", "it must be s3://BUCKET or s3://BUCKET/PREFIX", id="no bucket"),
        pytest.param("s3://b", "it must be s3://BUCKET or s3://BUCKET/PREFIX", id="a bucket of one letter"),
        pytest.param("s3://bucket/../a", "it must be s3://BUCKET or s3://BUCKET/PREFIX", id="a way upwards"),
        pytest.param("gs://bucket", "it must be a directory or an s3:// URL", id="another kind of bucket"),
    ],
)
def test_a_place_that_cannot_be_a_store_is_refused(
    given: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_STORE", given)

    with pytest.raises(SettingsError, match=r"^SUREFOOT_STORE is .*: ") as refused:
        load_settings()

    assert str(refused.value) == f"SUREFOOT_STORE is '{given}': {reason}"


def test_s3_variables_that_make_no_client_are_refused_without_being_quoted(tmp_path: Path) -> None:
    settings = Settings(state_directory=tmp_path, store="s3://bucket")

    with pytest.raises(SettingsError) as refused:
        open_store(settings, {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "perhaps"})

    assert str(refused.value) == "the AWS_ variables do not make a client for s3://bucket"
