// The policy of policies/recipient_guard/recipient_guard.py once more: the protocol is not Python's.
"use strict";

const HELLO = {
  protocol: 1,
  name: "recipient_guard",
  summary: "Blocks tainted recipients, asks about unlisted actions, stops after two commits",
  version: 1,
  hooks: ["proposal"],
};

function decide(call) {
  if (!call.high_risk) return { verdict: "allow" };
  const recipients = call.arguments.filter((given) => given.role === "recipient");
  if (recipients.some((recipient) => recipient.label.tainted)) {
    return { verdict: "block", rule: "tainted_recipient", denial: "tainted_privilege_jump" };
  }
  if (call.ledger_entry === null) {
    return { verdict: "confirm", rule: "unlisted_action", denial: "confirmation_required" };
  }
  if (call.counts.committed >= 2) {
    return { verdict: "block", rule: "too_many_commits", denial: "outside_user_goal" };
  }
  return { verdict: "allow", rule: "allow_listed_action" };
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if ("hello" in message) console.log(JSON.stringify(HELLO));
    if ("id" in message) console.log(JSON.stringify({ id: message.id, ...decide(message) }));
  }
});
