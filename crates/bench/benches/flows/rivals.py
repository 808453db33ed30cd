"""Durable steps as LangGraph and DBOS take them, for the benchmark `flows`.

Called with the name of one and a folder for its database. It prints its version as a line of JSON. Then each line of its
input asks for some runs at once of some steps each, as `64 32`, and is answered by another one: how many seconds that took,
how many of them this process had a processor, and what each run came to.
"""

import json
import os
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

# How the engine opens its own database. The first of these stays with the file, the others with the connection; every
# connection of Python's begins with the second.
SETTINGS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"


def text(step):
    """What a step writes: 1,000 bytes, others each time."""
    return f"{step:010}" * 100


class LangGraph:
    """A graph of one node that leads back to itself. A checkpoint is stored before the next step begins.

    Runs that go on at once are threads with one saver: beside tasks with the asynchronous saver that takes a third of the time.
    """

    package = "langgraph"

    def __init__(self, database):
        from typing import TypedDict

        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            steps: int
            step: int
            text: str

        def work(state):
            step = state["step"] + 1
            return {"step": step, "text": text(step)}

        def leads_to(state):
            return "work" if state["step"] < state["steps"] else END

        graph = StateGraph(State)
        graph.add_node("work", work)
        graph.add_edge(START, "work")
        graph.add_conditional_edges("work", leads_to, ["work", END])
        connection = sqlite3.connect(database, check_same_thread=False)
        connection.executescript(SETTINGS)
        self.graph = graph.compile(checkpointer=SqliteSaver(connection))
        self.begun = 0

    def run(self, runs, steps):
        first = self.begun
        self.begun += runs
        with ThreadPoolExecutor(runs) as threads:
            return list(threads.map(lambda run: self.run_one(run, steps), range(first, self.begun)))

    def run_one(self, run, steps):
        config = {"configurable": {"thread_id": str(run)}, "recursion_limit": steps + 1}
        return self.graph.invoke({"steps": steps, "step": 0, "text": ""}, config, durability="sync")


class Dbos:
    """A workflow that calls one step again and again. What that answers is stored before the next one begins."""

    package = "dbos"

    def __init__(self, database):
        from dbos import DBOS

        # It would take the journal as SQLite has it by default, which is several times slower.
        made = sqlite3.connect(database)
        made.executescript(SETTINGS)
        made.close()
        DBOS(config={"name": "flows", "system_database_url": f"sqlite:///{database}", "log_level": "ERROR"})

        @DBOS.step()
        def work(state):
            step = state["step"] + 1
            return {"step": step, "text": text(step)}

        @DBOS.workflow()
        def loop(steps):
            state = {"step": 0, "text": ""}
            while state["step"] < steps:
                state = work(state)
            return state

        DBOS.launch()
        self.start = lambda steps: DBOS.start_workflow(loop, steps)

    def run(self, runs, steps):
        begun = [self.start(steps) for _ in range(runs)]
        return [run.get_result() for run in begun]


def main():
    name, folder = sys.argv[1:]
    # Whatever a library prints is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    rival = {"langgraph": LangGraph, "dbos": Dbos}[name](os.path.join(folder, f"{name}.db"))
    print(json.dumps({"version": version(rival.package)}), file=answers, flush=True)
    for line in sys.stdin:
        runs, steps = map(int, line.split())
        began, busy = time.perf_counter(), time.process_time()
        states = rival.run(runs, steps)
        took = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - busy}
        came_to = [[state["step"], state["text"]] for state in states]
        print(json.dumps({**took, "came_to": came_to}), file=answers, flush=True)


if __name__ == "__main__":
    main()
