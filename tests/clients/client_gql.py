"""Python's gql: operations over HTTP and a subscription over a WebSocket."""

import asyncio
import os
import sys
from pathlib import Path

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError
from gql.transport.websockets import WebsocketsTransport

FIBONACCI = Path(__file__).parents[2] / "examples" / "fib.lm"

CREATE = gql(
    """mutation ($input: CreateProgramInput!) {
      createProgram(input: $input) { program { id eventCursor revision { number } } errors { code message } }
    }"""
)
EDIT = gql(
    """mutation ($input: ProposeEditInput!) {
      proposeEdit(input: $input) { outcome { __typename ... on EditApplied { revision { number } } } }
    }"""
)
EVENTS = gql(
    """subscription ($program: ID!, $after: String) {
      programEvents(programId: $program, after: $after) {
        __typename
        ... on RevisionCommitted { revision { number } }
      }
    }"""
)
SIMULATE = gql(
    """subscription ($input: StartSimulationInput!) {
      simulate(input: $input) { steps { seq } outcome { __typename ... on Returned { values } } }
    }"""
)
UNDO = gql(
    """mutation ($input: UndoInput!) {
      undo(input: $input) { outcome { __typename ... on RevisionMade { revision { number } } } }
    }"""
)
UNKNOWN = gql('{ program(name: "there is no such program") { id } }')


async def main(server: str) -> None:
    """Tells the short form of the story in story.mjs."""
    http = Client(transport=AIOHTTPTransport(url=f"{server}/graphql"), fetch_schema_from_transport=True)
    socket_url = server.replace("http:", "ws:") + "/graphql/ws"
    protocols = [WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL]
    socket = Client(transport=WebsocketsTransport(url=socket_url, subprotocols=protocols))

    async with http as over_http, socket as over_socket:
        name = f"python-{os.getpid()}"
        text = FIBONACCI.read_text(encoding="utf-8")
        created = (await run(over_http, CREATE, input={"name": name, "text": text}))["createProgram"]
        assert created["errors"] == [], created
        program = created["program"]["id"]

        events = over_socket.subscribe(
            with_values(EVENTS, program=program, after=created["program"]["eventCursor"])
        )
        twice = "pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 2)\n}\n"
        edits = [{"addText": {"module": "fibonacci", "text": twice}}]
        edited = (await run(over_http, EDIT, input={"programId": program, "edits": edits}))["proposeEdit"]
        assert edited["outcome"]["__typename"] == "EditApplied", edited
        async for event in events:
            if event["programEvents"]["__typename"] == "RevisionCommitted":
                assert event["programEvents"]["revision"] == edited["outcome"]["revision"], event
                break

        wanted = {"programId": program, "function": "fibonacci::fib", "run": {"args": ["i64:10"]}}
        outcome, steps = None, 0
        async for batch in over_socket.subscribe(with_values(SIMULATE, input=wanted)):
            steps += len(batch["simulate"]["steps"])
            outcome = batch["simulate"]["outcome"] or outcome
        assert outcome == {"__typename": "Returned", "values": ["i64:55"]}, outcome
        assert steps > 100, steps

        undone = (await run(over_http, UNDO, input={"programId": program}))["undo"]
        assert undone["outcome"]["__typename"] == "RevisionMade", undone

        try:
            await run(over_http, UNKNOWN)
        except TransportQueryError as error:
            assert error.errors[0]["extensions"]["code"] == "NOT_FOUND", error
        else:
            raise AssertionError("an unknown program is an error")
    print(f"gql told the story with a trace of {steps} steps")


def with_values(request, **variables):
    """Returns the request with values for its variables."""
    request.variable_values = variables
    return request


async def run(session, request, **variables):
    """Runs a query or a mutation."""
    return await session.execute(with_values(request, **variables))


asyncio.run(main(sys.argv[1]))
