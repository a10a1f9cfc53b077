"""A server in Python whose tools keep or break what their hints say.

argv: the folder of the seed data, and the tools as JSON.
"""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

SEED = sys.argv[1]


def at(name):
    return os.path.join(SEED, name)


def write(path, text="x"):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sql(text):
    database = sqlite3.connect(at("database.db"))
    with database:
        rows = database.execute(text).fetchall()
    database.close()
    return rows


def logs():
    folder = os.path.expanduser("~/.local/state/corpus/logs")
    os.makedirs(folder, exist_ok=True)
    append(os.path.join(folder, "calls.log"), f"{time.time()} called\n")


def uses_a_temporary_file():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")


def replaces():
    write(at("page.md.new"), "gone")
    os.replace(at("page.md.new"), at("page.md"))


def writes_late():
    thread = threading.Timer(0.4, lambda: write(at("late.txt")))
    thread.daemon = True
    thread.start()


def looks_up():
    try:
        socket.getaddrinfo("corpus.example.com", 80)
    except OSError:
        pass


BODIES = {
    "py_reads_a_file": lambda: read(at("notes.txt")),
    "py_queries_rows": lambda: str(sql("select * from items")),
    "py_writes_a_log": logs,
    "py_uses_a_temporary_file": uses_a_temporary_file,
    "py_appends_a_line": lambda: append(at("notes.txt"), "A line.\n"),
    "py_inserts_a_row": lambda: sql("insert into items (name) values ('plum')"),
    "py_writes_in_secret": lambda: write(at("out.txt")),
    "py_writes_late": writes_late,
    "py_writes_by_a_child": lambda: subprocess.run(["sh", "-c", f"echo x > '{at('child.txt')}'"], check=True),
    "py_replaces_a_file": replaces,
    "py_deletes_rows": lambda: sql("delete from items where id = 1"),
    "py_inserts_again": lambda: sql("insert into items (name) values ('plum')"),
    "py_looks_up_a_host": looks_up,
}


def answer(message):
    method = message["method"]
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "corpus-python", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": json.loads(sys.argv[2])}
    if method == "tools/call":
        text = BODIES[message["params"]["name"]]()
        return {"content": [{"type": "text", "text": str(text or "done")}]}
    return {}


# Where the sandbox does not hold, nothing is sent.
if any(name != "lo" for _, name in socket.if_nameindex()):
    sys.exit("not in a sandbox")
for line in sys.stdin:
    received = json.loads(line)
    if "id" in received:
        reply = {"jsonrpc": "2.0", "id": received["id"], "result": answer(received)}
        print(json.dumps(reply), flush=True)
