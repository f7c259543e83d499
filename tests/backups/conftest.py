"""An old server, and a bucket."""

import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.backups.running import DATA, done, on

KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "sesame", "AWS_REGION": "eu-central-1"}


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> Path:
    """A server with the first schema that there was, on which this version has only made a backup."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "data").mkdir()
    (folder / "data" / "karat.sqlite3").write_bytes(lzma.decompress((DATA / "first-schema.sqlite3.xz").read_bytes()))
    done("backup", folder / "older.zip", env=on(folder / "data"))
    return folder


class There:
    """A bucket of a test, as another program sees it."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self.name = client, name
        self.address = f"s3://{name}/karat/nightly"

    def objects(self) -> list[str]:
        found = self._client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return [each["Key"].removeprefix("karat/nightly/") for each in found]

    def unfinished(self) -> list[str]:
        """What is being uploaded in parts."""
        return [each["Key"] for each in self._client.list_multipart_uploads(Bucket=self.name).get("Uploads", [])]

    def put(self, name: str, content: bytes) -> None:
        self._client.put_object(Bucket=self.name, Key=f"karat/nightly/{name}", Body=content)

    def content(self, name: str) -> bytes:
        return self._client.get_object(Bucket=self.name, Key=f"karat/nightly/{name}")["Body"].read()


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of a server that speaks S3."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3, monkeypatch) -> There:
    """An empty bucket, and the variables that lead to it."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": s3}.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=s3, region_name=KEYS["AWS_REGION"])
    name = f"backups-{uuid4().hex}"
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": KEYS["AWS_REGION"]})
    return There(client, name)
