"""The official client of the Model Context Protocol, run by the Python that has its package `mcp`.

    official_client.py ADDRESS MODE < CALLS

Makes the calls, a JSON list of tool and arguments, and prints the answers as a JSON list. In arguments "$n.name" is the
value of a name in the n-th answer, and "$n.results.0.id" one further down. MODE is `auto`, for 2026-07-28, or `legacy`.
"""

import asyncio
import json
import os
import sys
from functools import reduce

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client


def filled(value, answers):
    if isinstance(value, list):
        return [filled(each, answers) for each in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    number, *path = value[1:].split(".")
    return reduce(lambda found, key: found[int(key) if key.isdigit() else key], path, answers[int(number)])


async def main(address, mode):
    answers = []
    headers = {"Authorization": f"Bearer {os.environ['KARAT_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        known = {tool.name for tool in (await client.list_tools()).tools}
        for tool, arguments in json.load(sys.stdin):
            assert tool in known, tool
            given = {name: filled(value, answers) for name, value in arguments.items()}
            result = await client.call_tool(tool, given)
            assert not result.is_error, f"{tool}: {result.content[0].text}"
            answers.append(result.structured_content)
    print(json.dumps(answers))


asyncio.run(main(*sys.argv[1:]))
