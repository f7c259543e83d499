"""A server that speaks S3, from a package, and buckets on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import boto3
from moto.server import ThreadedMotoServer

KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "sesame", "AWS_REGION": "eu-central-1"}


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


@contextmanager
def running() -> Iterator[str]:
    """The address of a server that speaks S3."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def variables(endpoint: str) -> dict[str, str]:
    """What leads a process to the server."""
    return {**KEYS, "AWS_ENDPOINT_URL": endpoint}


def new_bucket(endpoint: str) -> There:
    client = boto3.client("s3", endpoint_url=endpoint, region_name=KEYS["AWS_REGION"])
    name = f"bucket-{uuid4().hex}"
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": KEYS["AWS_REGION"]})
    return There(client, name)
