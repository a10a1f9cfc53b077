# A server whose tools need arguments that have to be found. argv: the folder of the seed data, its tools as JSON.
import json
import os
import sys

with open("/proc/net/dev") as interfaces:
    if interfaces.read().count(":") != 1:
        sys.exit("not in a sandbox")
seed, tools = sys.argv[1], json.loads(sys.argv[2])


def call(name, args):
    if name == "py_find_gauges":
        return "2 gauges:\n- brass-gauge: ready\n- steel-gauge: ready\n"
    if name == "py_test_gauge":
        if args.get("gauge_name") not in ("brass-gauge", "steel-gauge"):
            raise ValueError("unknown gauge")
        with open(seed + "/gauge.txt", "w") as file:
            file.write("tested")
        return "good"
    if args.get("unit") not in ("ell", "rod"):
        raise ValueError("unit must be one of: ell, rod")
    if name == "py_convert_units" and args["unit"] == "ell":
        os.utime(seed + "/notes.txt", (0, 0))
        os.rename(seed + "/docs/todo.txt", seed + "/docs/done.txt") if os.path.exists(seed + "/docs/todo.txt") else None
    return "1.1"


for line in sys.stdin:
    message = json.loads(line)
    method = message["method"]
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "python", "version": "1"}
        reply["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        reply["result"] = {"tools": tools}
    elif method == "tools/call":
        try:
            text = call(message["params"]["name"], message["params"].get("arguments", {}))
            reply["result"] = {"content": [{"type": "text", "text": text}]}
        except Exception as error:
            reply["result"] = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    else:
        reply["error"] = {"code": -32601, "message": "unknown"}
    print(json.dumps(reply), flush=True)
