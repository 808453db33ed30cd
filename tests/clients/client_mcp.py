"""Python's MCP clients edit, verify, run and undo: the SDK's over standard input and output, fastmcp's over HTTP."""

import asyncio
import os
import sys
from datetime import timedelta

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PATIENCE = timedelta(seconds=60)
THRICE = "pub func thrice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 3)\n}\n"


def expect(what, said):
    if what not in said:
        raise AssertionError(f"{what!r} is not in {said!r}")


async def story(call, program):
    """Makes a program and changes it; `call` gives a text, whether it is an error, and what of it is data."""
    text, is_error, _ = await call("program", {"action": "create", "name": program, "text": "module m\n"})
    expect(f"; program {program} @ r1", text)
    assert not is_error

    wrong = [{"addText": {"module": "m", "text": THRICE.replace("mul.i64", "mull.i64")}}]
    edit = {"program": program, "base_revision": "r1", "edits": wrong}
    text, is_error, data = await call("propose_structured_edit", edit)
    assert is_error and data["errors"][0]["code"] == "UNKNOWN_OP", data
    expect("mul.i64", text)

    edit["edits"] = [{"addText": {"module": "m", "text": THRICE}}]
    text, is_error, data = await call("propose_structured_edit", edit)
    assert not is_error and data["revision"] == "r2", text

    text, _, data = await call("verify_and_propagate", {"program": program, "scope": "full"})
    assert data["outcome"] == "valid", text
    text, _, data = await call("simulate", {"program": program, "function": "m::thrice", "args": [14]})
    expect("returned i64:42", text)
    text, _, data = await call("undo", {"program": program})
    assert data["revision"] == "r3", text
    text, is_error, _ = await call("simulate", {"program": program, "function": "m::thrice", "args": [14]})
    assert is_error
    expect("NOT_FOUND", text)


async def over_stdio(url):
    server = StdioServerParameters(command=os.environ["LMLANG"], args=["--server", url, "mcp"])
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write, read_timeout_seconds=PATIENCE) as session:
            met = await session.initialize()
            assert met.serverInfo.name == "lmlang", met
            tools = (await session.list_tools()).tools
            assert len(tools) == 15 and all(tool.outputSchema for tool in tools), tools

            async def call(name, arguments):
                result = await session.call_tool(name, arguments)
                return result.content[0].text, result.isError, result.structuredContent

            await story(call, "python-stdio")
            run = await session.call_tool(
                "simulate", {"program": "fib", "function": "fibonacci::fib", "args": [10]}
            )
            link = run.content[1]
            assert link.type == "resource_link", run
            trace = await session.read_resource(link.uri)
            expect("; program fib @ r1", trace.contents[0].text)


async def over_http(url):
    async with Client(StreamableHttpTransport(f"{url}/mcp"), timeout=PATIENCE) as client:

        async def call(name, arguments):
            result = await client.call_tool(name, arguments, raise_on_error=False)
            return result.content[0].text, result.is_error, result.structured_content

        assert len(await client.list_tools()) == 15
        await story(call, "python-http")
        edits = await client.read_resource("lmlang://schema/edits")
        expect("input EditInput", edits[0].text)


async def main(url):
    await over_stdio(url)
    await over_http(url)


asyncio.run(main(sys.argv[1].rstrip("/")))
