"""Finds every side effect whose recorded label carries untrusted content."""
import json
import sys

HELLO = {
    "protocol": 1,
    "as": "auditor",
    "name": "tainted_effects",
    "summary": "Finds every side effect that carries untrusted content",
    "version": 1,
}

for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        print(json.dumps(HELLO), flush=True)
    elif "reset" in message:
        findings = []
    elif "event" in message:
        for node in message["event"]["nodes"]:
            if node["kind"] == "side_effect" and node["recorded"]["tainted"]:
                findings.append({"node": node["node"], "finding": "tainted_side_effect"})
    elif "id" in message:
        print(json.dumps({"id": message["id"], "findings": findings}), flush=True)
