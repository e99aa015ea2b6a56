"""Nothing reaches a recipient that untrusted content named, or that the user did not authorise."""
import json
import sys

HELLO = {
    "protocol": 1,
    "name": "recipient_guard",
    "summary": "Blocks tainted recipients, asks about unlisted actions, stops after two commits",
    "version": 1,
    "hooks": ["proposal"],
}


def decide(call):
    if not call["high_risk"]:
        return {"verdict": "allow"}
    recipients = [given for given in call["arguments"] if given["role"] == "recipient"]
    if any(recipient["label"]["tainted"] for recipient in recipients):
        return {"verdict": "block", "rule": "tainted_recipient", "denial": "tainted_privilege_jump"}
    if call["ledger_entry"] is None:
        return {"verdict": "confirm", "rule": "unlisted_action", "denial": "confirmation_required"}
    if call["counts"]["committed"] >= 2:
        return {"verdict": "block", "rule": "too_many_commits", "denial": "outside_user_goal"}
    return {"verdict": "allow", "rule": "allow_listed_action"}


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        print(json.dumps(HELLO), flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], **decide(message)}), flush=True)
