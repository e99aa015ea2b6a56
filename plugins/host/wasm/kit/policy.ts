// NAME: blocks a call that takes a recipient from untrusted content. AssemblyScript.
//
// Build it and put it to the test:
//
//   npm install assemblyscript@0.28.20
//   npx asc NAME.ts -O3 --runtime stub --use abort= -o NAME.wasm
//   containment plugin check wasm:NAME.wasm
//
// The classes lie in memory as the records of binary interface version 1; docs/book/wasm.md
// describes all of them. A place is counted in bytes from the beginning of the message.

const NONE: u32 = 0xffffffff;

const PROPOSAL: u32 = 4;

const ALLOW: u64 = 0;
const BLOCK: u64 = 1;
const CONFIRM: u64 = 2;

const PLUGIN_FAULT: u64 = 0;
const TAINTED_PRIVILEGE_JUMP: u64 = 3;
const CONFIRMATION_REQUIRED: u64 = 4;

const HIGH_RISK: u32 = 1;
const TAINTED: u32 = 1;
const RECIPIENT: u32 = 0;

// At proposal and commit.
@unmanaged
class CallQuestion {
  tick: u64;
  episode: u32;
  hook: u32;
  proposed: u32;
  committed: u32;
  denied: u32;
  asked: u32;
  approved: u32;
  highRiskProposed: u32;
  highRiskCommitted: u32;
  highRiskDenied: u32;
  highRiskAsked: u32;
  highRiskApproved: u32;
  labelsAt: u32;
  labels: u32;
  call: u32;
  agent: u32;
  tool: u32;
  risk: u32;
  flags: u32;
  ledgerEntry: u32;
  node: u32;
  recorded: u32;
  choice: u32;
  keepResult: u32;
  agentNameAt: u32;
  agentNameBytes: u32;
  toolNameAt: u32;
  toolNameBytes: u32;
  targetAt: u32;
  targetBytes: u32;
  argumentsAt: u32;
  arguments: u32;
  expandingAt: u32;
  expanding: u32;
  leakingAt: u32;
  leaking: u32;
}

@unmanaged
class Argument {
  position: u32;
  role: u32;
  flags: u32;
  label: u32;
  nameAt: u32;
  nameBytes: u32;
  kind: u32;
  reserved: u32;
  itemsAt: u32;
  items: u32;
  number: i64;
  objectKind: u32;
  object: u32;
  fieldsAt: u32;
  fields: u32;
}

const RULES: ArrayBuffer[] = [String.UTF8.encode("tainted_recipient")];
const TAINTED_RECIPIENT: u64 = 0;

function ruling(rule: u64, verdict: u64, denial: u64): u64 {
  return verdict | ((rule + 1) << 8) | (denial << 24);
}

function taintedRole(question: usize, role: u32): bool {
  const call = changetype<CallQuestion>(question);
  for (let i: u32 = 0; i < call.arguments; i++) {
    const at = question + call.argumentsAt + i * <u32>offsetof<Argument>();
    const argument = changetype<Argument>(at);
    if (argument.role == role && (argument.flags & TAINTED) != 0) return true;
  }
  return false;
}

function decide(question: usize): u64 {
  const call = changetype<CallQuestion>(question);
  if ((call.flags & HIGH_RISK) != 0 && taintedRole(question, RECIPIENT)) {
    return ruling(TAINTED_RECIPIENT, BLOCK, TAINTED_PRIVILEGE_JUMP);
  }
  return 0;
}

export function cb_abi(): u32 {
  return 1;
}

export function cb_hooks(): u32 {
  return 1 << PROPOSAL;
}

export function cb_rule(number: u32): u64 {
  if (number >= <u32>RULES.length) return 0;
  const name = RULES[number];
  return (<u64>changetype<usize>(name) << 32) | <u64>name.byteLength;
}

let place: usize = 0;
let room: u32 = 0;

// One message at a time; the next one replaces it.
export function cb_alloc(bytes: u32): usize {
  if (bytes > room) {
    room = bytes + (bytes >> 1);
    place = heap.alloc(room);
  }
  return place;
}

// A rollout begins, or is read again from its beginning.
export function cb_reset(briefing: usize, bytes: u32): void {}

export function cb_decide(hook: u32, question: usize, bytes: u32): u64 {
  return decide(question);
}
