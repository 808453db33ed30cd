"""Python's gql tells the story of story.mjs: operations over HTTP, subscriptions over a WebSocket."""

import asyncio
import os
import sys
from pathlib import Path

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportQueryError
from gql.transport.websockets import WebsocketsTransport

SHA256 = Path(__file__).parents[2] / "examples" / "sha256.lm"
TWICE = "pub func twice (x: i64) -> (i64) pure {\n  return (mul.i64 x, 2)\n}\n"
# FIPS 180-4, the example of one block.
DIGEST_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

CREATE = gql(
    """mutation ($input: CreateProgramInput!) {
      createProgram(input: $input) {
        program { id eventCursor revision { number } }
        errors { code message line column }
      }
    }"""
)
EVENTS = gql(
    """subscription ($program: ID!, $after: String) {
      programEvents(programId: $program, after: $after) {
        __typename
        cursor
        ... on RevisionCommitted { revision { number kind } touched }
      }
    }"""
)
EDIT = gql(
    """mutation ($input: ProposeEditInput!) {
      proposeEdit(input: $input) {
        outcome {
          __typename
          ... on EditApplied { committed revision { number } created { ref } changed { added functions } }
          ... on EditRejected { errors { code message } }
        }
      }
    }"""
)
VERIFY = gql(
    """query ($program: ID!) {
      program(id: $program) { verify(scope: FULL) { valid complete checkedFunctions errors { code message } } }
    }"""
)
SIMULATE = gql(
    """subscription ($input: StartSimulationInput!) {
      simulate(input: $input) {
        cursor
        skipped
        status
        steps { seq op }
        outcome { __typename ... on Returned { values } }
      }
    }"""
)
UNDO = gql(
    """mutation ($input: UndoInput!) {
      undo(input: $input) { outcome { __typename ... on RevisionMade { committed revision { number } } } }
    }"""
)
LOOK = gql(
    """query ($program: ID!, $at: String) {
      program(id: $program, at: $at) { id revision { number } function(name: "sha256::twice") { ref name } }
    }"""
)
DIFF = gql(
    """query ($program: ID!, $from: String!, $to: String!) {
      program(id: $program) { diff(from: $from, to: $to) { changed { added removed functions } text } }
    }"""
)


async def main(server: str) -> None:
    """Tells the story."""
    http = Client(transport=AIOHTTPTransport(url=f"{server}/graphql"), fetch_schema_from_transport=True)
    socket_url = server.replace("http:", "ws:") + "/graphql/ws"
    protocols = [WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL]
    socket = Client(transport=WebsocketsTransport(url=socket_url, subprotocols=protocols))

    async with http as over_http, socket as over_socket:
        text = SHA256.read_text(encoding="utf-8")
        made = {"name": f"python-{os.getpid()}", "text": text}
        created = (await run(over_http, CREATE, input=made))["createProgram"]
        assert created["errors"] == [], created
        program, first = created["program"]["id"], created["program"]["revision"]["number"]

        after = created["program"]["eventCursor"]
        events = over_socket.subscribe(with_values(EVENTS, program=program, after=after))

        base, edits = f"r{first}", [{"addText": {"module": "sha256", "text": TWICE}}]
        wanted = {"programId": program, "baseRevision": base, "edits": edits}
        edited = (await run(over_http, EDIT, input=wanted))["proposeEdit"]["outcome"]
        assert edited["__typename"] == "EditApplied" and edited["committed"], edited
        second = edited["revision"]["number"]
        assert (await committed(events))["revision"]["number"] == second

        verified = (await run(over_http, VERIFY, program=program))["program"]["verify"]
        assert verified["valid"] and verified["complete"] and verified["errors"] == [], verified

        steps, batches, outcome = await trace_of_abc(over_socket, program)
        assert outcome["__typename"] == "Returned", outcome
        assert DIGEST_OF_ABC in outcome["values"][0], outcome
        assert steps > 1000, f"the trace has {steps} steps"
        assert batches > 1, "the trace arrives in batches"

        undone = (await run(over_http, UNDO, input={"programId": program}))["undo"]["outcome"]
        assert undone["__typename"] == "RevisionMade" and undone["committed"], undone
        third = undone["revision"]["number"]
        assert (await committed(events))["revision"]["number"] == third
        await events.aclose()

        then = (await run(over_http, LOOK, program=program, at=f"r{second}"))["program"]
        assert then["function"]["name"] == "twice", then
        try:
            await run(over_http, LOOK, program=program)
        except TransportQueryError as error:
            assert error.errors[0]["extensions"]["code"] == "NOT_FOUND", error
            assert error.data["program"]["function"] is None, error
        else:
            raise AssertionError("a function that was taken back is an error")

        compared = await run(over_http, DIFF, program=program, **{"from": f"r{second}", "to": f"r{third}"})
        difference = compared["program"]["diff"]
        assert difference["changed"]["removed"] > 0 and difference["changed"]["added"] == 0, difference
        assert "twice" in difference["text"], difference
    print(f"the story took {third} revisions and a trace of {steps} steps in {batches} batches")


async def committed(events):
    """Returns the next revision that the events tell of."""
    async for event in events:
        if event["programEvents"]["__typename"] == "RevisionCommitted":
            return event["programEvents"]
    raise AssertionError("the events go on")


async def trace_of_abc(session, program):
    """Follows the trace of a run; returns its steps, its batches, and what came out."""
    wanted = {"programId": program, "function": "sha256::sha256", "run": {"args": ["abc"]}}
    steps, batches, outcome = 0, 0, None
    async for batch in session.subscribe(with_values(SIMULATE, input=wanted)):
        batches += 1
        steps += len(batch["simulate"]["steps"])
        outcome = batch["simulate"]["outcome"] or outcome
    return steps, batches, outcome


def with_values(request, **variables):
    """Returns the request with values for its variables."""
    request.variable_values = variables
    return request


async def run(session, request, **variables):
    """Runs a query or a mutation."""
    return await session.execute(with_values(request, **variables))


asyncio.run(main(sys.argv[1]))
