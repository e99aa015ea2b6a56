/* What a policy in C reads and answers: binary interface, version 1.
 *
 * Header only, and no C library is needed. Write four functions and two lists:
 *
 *   #define CB_HOOKS CB_AT(CB_PROPOSAL)
 *   #define CB_RULES "first_rule", "second_rule"
 *   #include "containment.h"
 *   void cb_on_reset(const struct cb_briefing *briefing) { ... }
 *   cb_ruling cb_on_question(const struct cb_question *question) { ... }
 *
 * and, only if the policy reads events or keeps state of its own:
 *
 *   #define CB_READS_EVENTS      void cb_on_event(const struct cb_event *event)
 *   #define CB_KEEPS_STATE       void *cb_state(cb_u32 *bytes), a fixed piece of memory
 *
 * Build:
 *   clang-19 --target=wasm32-unknown-unknown -O2 -mbulk-memory -nostdlib -Wl,--no-entry -Wl,--strip-all -o NAME.wasm NAME.c
 *
 * All places in a message are counted in bytes from its beginning, so each reader takes the
 * message: CB_BASE(question), CB_BASE(event) or CB_BASE(briefing).
 */
#ifndef CONTAINMENT_H
#define CONTAINMENT_H

typedef unsigned char cb_u8;
typedef unsigned int cb_u32;
typedef unsigned long long cb_u64;
typedef long long cb_i64;

#define CB_EXPORT(name) __attribute__((export_name(#name)))
/* Stands where an index would, and nothing is meant. */
#define CB_NONE 0xFFFFFFFFu

enum cb_hook {
  CB_SESSION, CB_PROMPT, CB_OBSERVATION, CB_MESSAGE, CB_PROPOSAL,
  CB_MEMORY_WRITE, CB_MEMORY_READ, CB_COMMIT, CB_RECOVERY
};
#define CB_AT(hook) (1u << (hook))

enum cb_verdict {
  CB_ALLOW = 0, CB_PASS = 0, CB_BLOCK, CB_CONFIRM, CB_HOLD, CB_REWRITE, CB_SIMULATE, CB_ABORT,
  CB_QUARANTINE, CB_DROP, CB_RELABEL, CB_TRANSFORM, CB_MASK_TOOLS, CB_EDIT, CB_ACT
};

enum cb_denial {
  CB_PLUGIN_FAULT, CB_TARGET_NOT_AUTHORIZED, CB_OUTSIDE_USER_GOAL, CB_TAINTED_PRIVILEGE_JUMP,
  CB_CONFIRMATION_REQUIRED, CB_CHECKPOINT_HOLD, CB_MEMORY_QUARANTINED
};

enum cb_risk { CB_LOW, CB_WRITE, CB_OUTBOUND };

enum cb_role {
  CB_RECIPIENT, CB_DOCUMENT, CB_VISIBILITY, CB_MEMORY_KEY, CB_EVENT, CB_CONTACT, CB_SCOPE,
  CB_CONTENT
};

enum cb_value_kind { CB_TEXT, CB_LIST, CB_INTEGER, CB_BOOLEAN };

/* A text has so many bytes, a list so many records. */
struct cb_text { cb_u32 at, bytes; };
struct cb_list { cb_u32 at, count; };

struct cb_value {
  cb_u32 kind, reserved;
  struct cb_list items; /* a text: its place and bytes; a list: of struct cb_text */
  cb_i64 number;        /* an integer; a boolean: 0 or 1 */
};

/* Of a label: flags of struct cb_label; the two lowest are also copied to where it is used. */
#define CB_TAINTED 1u
#define CB_INFLUENCED 2u
#define CB_EVERYONE 4u
struct cb_label {
  cb_u32 flags, derivation;
  struct cb_list sources, control, readers; /* of cb_u32 */
};

struct cb_field { struct cb_text name, value; cb_u32 label, flags; };

struct cb_argument {
  cb_u32 position, role, flags, label;
  struct cb_text name;
  struct cb_value value;
  cb_u32 object_kind, object; /* what a reference stands for, or CB_NONE */
  struct cb_list fields;      /* and what that says: of struct cb_field */
};

struct cb_counts { cb_u32 proposed, committed, denied, asked, approved; };

/* Every question begins so. What follows depends on the hook. */
struct cb_question {
  cb_u64 tick;
  cb_u32 episode, hook;
  struct cb_counts all, high_risk;
  struct cb_list labels; /* of struct cb_label; a label is a position in it */
};

#define CB_HIGH_RISK 1u
#define CB_WRONG_RECIPIENT 2u
#define CB_HAS_TARGET 4u
#define CB_RECORDED_TAINTED 8u
#define CB_RECORDED_INFLUENCED 16u
/* At proposal and commit. */
struct cb_call_question {
  struct cb_question head;
  cb_u32 call, agent, tool, risk, flags, ledger_entry, node, recorded, choice, keep_result;
  struct cb_text agent_name, tool_name, target;
  struct cb_list arguments;          /* of struct cb_argument */
  struct cb_list expanding, leaking; /* of cb_u32: positions of arguments */
};

/* At observation and message. */
struct cb_inflow_question {
  struct cb_question head;
  cb_u32 agent, from, node, recorded;
  struct cb_list fields; /* of struct cb_field */
};

/* At memory_write and memory_read. */
struct cb_record_question {
  struct cb_question head;
  cb_u32 record, store, agent, call, recorded, flags;
  struct cb_text key;
  struct cb_list fields; /* of struct cb_field */
};

struct cb_segment { cb_u32 kind, a, b, marked; struct cb_list fields; };
/* At prompt. */
struct cb_prompt_question {
  struct cb_question head;
  cb_u32 agent, reserved;
  struct cb_list segments; /* of struct cb_segment */
};

struct cb_summary { cb_u32 record, store, call, recorded, has_backup, flags; };
/* At recovery. */
struct cb_recovery_question {
  struct cb_question head;
  cb_u32 step, kind, revoked, reserved;
  struct cb_list records; /* of struct cb_summary */
};

struct cb_agent { struct cb_text name; struct cb_list tools; };
struct cb_argument_spec {
  struct cb_text name;
  struct cb_list aliases; /* of struct cb_text */
  cb_u32 kind, role, passing, required;
};
struct cb_tool {
  struct cb_text name;
  struct cb_list arguments; /* of struct cb_argument_spec */
  struct cb_text target;    /* if target_argument is CB_NONE */
  cb_u32 target_argument, risk, operation, object, sink, undo, irrevocable_email, reserved;
  cb_u64 latency_ticks;
};
struct cb_sink { struct cb_text name; struct cb_list readers; };
struct cb_condition { struct cb_text name; cb_u32 kind, reserved; struct cb_list values; };
struct cb_entry { struct cb_text action, target; struct cb_list conditions; };
struct cb_source {
  struct cb_text name;
  cb_u32 channel, untrusted;
  struct cb_label label;
  cb_u32 reserved, reserved_too;
};
struct cb_canary { struct cb_text token; cb_u32 everyone, reserved; struct cb_list readers; };
struct cb_briefing {
  cb_u32 abi, reserved;
  struct cb_list goals, agents, tools, sinks, ledger, allowed_recipients, principals, sources,
      canaries, untrusted;
};

struct cb_node {
  cb_u32 kind, detail;
  cb_u64 tick;
  cb_u32 episode, agent, subject_kind, subject, recorded, exact, flags, reserved;
};
struct cb_edge { cb_u32 from, to, kind, taint; };
struct cb_call {
  cb_u32 id, agent, episode, tool, keep_result, recorded, choice, reserved;
  struct cb_list arguments; /* of struct cb_argument */
};
/* What subject, a, b, c, d, text and items are depends on kind: see docs/book/wasm.md. */
struct cb_event {
  cb_u64 tick;
  cb_u32 episode, agent, kind, number, subject_kind, subject, a, b, c, d;
  struct cb_text text;
  struct cb_list items;
  cb_u32 first_node, first_edge;
  struct cb_list nodes, edges, calls, labels;
};

/* Readers. */
typedef const cb_u8 *cb_message;
#define CB_BASE(record) ((cb_message)(const void *)(record))
/* The record of a list at a position below its count. */
#define CB_ITEM(message, list, type, position) \
  ((const type *)(const void *)((message) + (list).at) + (position))

static inline int cb_same(cb_message message, struct cb_text text, const char *other) {
  cb_u32 i = 0;
  for (; i < text.bytes; i++)
    if (other[i] == 0 || message[text.at + i] != (cb_u8)other[i]) return 0;
  return other[i] == 0;
}

static inline int cb_has(cb_message message, struct cb_list numbers, cb_u32 number) {
  for (cb_u32 i = 0; i < numbers.count; i++)
    if (*CB_ITEM(message, numbers, cb_u32, i) == number) return 1;
  return 0;
}

/* Whether an argument of this role is tainted. */
static inline int cb_tainted_role(const struct cb_call_question *call, cb_u32 role) {
  for (cb_u32 i = 0; i < call->arguments.count; i++) {
    const struct cb_argument *argument =
        CB_ITEM(CB_BASE(call), call->arguments, struct cb_argument, i);
    if (argument->role == role && (argument->flags & CB_TAINTED)) return 1;
  }
  return 0;
}

/* Answers. */
typedef cb_u64 cb_ruling;
/* The ruling of a policy that has nothing to say. */
#define CB_NEUTRAL ((cb_ruling)0)
/* Add these to a ruling: it rests on a stand-in; cb_evidence says on what it rests. */
#define CB_ASSUMED ((cb_ruling)1 << 32)
#define CB_HAS_EVIDENCE ((cb_ruling)1 << 33)
/* A verdict, the position of its rule in CB_RULES, and what the agent is told if it denies. */
static inline cb_ruling cb_rule_says(cb_u32 rule, cb_u32 verdict, cb_u32 denial) {
  return (cb_ruling)verdict | (cb_ruling)(rule + 1) << 8 | (cb_ruling)denial << 24;
}

/* How a function gives a piece of memory away. */
static inline cb_i64 cb_give(const void *at, cb_u32 bytes) {
  return (cb_i64)((cb_u64)(cb_u32)(__SIZE_TYPE__)at << 32 | bytes);
}

/* What comes with a verdict, from a function CB_EXPORT(cb_payload) cb_i64 cb_payload(void).
 * Here places are addresses: CB_ADDRESS(pointer). */
#define CB_ADDRESS(pointer) ((cb_u32)(__SIZE_TYPE__)(pointer))
struct cb_mask { cb_u32 agent, tool; };                         /* mask_tools: a list of it */
struct cb_edit {                                                /* edit: one */
  struct cb_list drop, mark, mask;                              /* of cb_u32 */
  cb_u32 guidance, schema_mode;
};
struct cb_relabel { cb_u32 how; struct cb_list members; };      /* relabel: one */
struct cb_new_field { struct cb_text name, value; };            /* transform, simulate: a list */
struct cb_change {                                              /* rewrite: a list */
  cb_u32 position, kind;
  struct cb_list items;
  cb_i64 number;
};
struct cb_action { cb_u32 what; struct cb_list ids; };          /* act: a list */
struct cb_evidence { cb_u32 kind, number; };                    /* cb_evidence: a list */

/* What every policy exports. */
void cb_on_reset(const struct cb_briefing *briefing);
cb_ruling cb_on_question(const struct cb_question *question);

CB_EXPORT(cb_abi) int cb_abi(void) { return 1; }
CB_EXPORT(cb_hooks) int cb_hooks(void) { return CB_HOOKS; }

CB_EXPORT(cb_rule) cb_i64 cb_rule(int number) {
  static const char *const rules[] = {CB_RULES};
  if (number < 0 || (cb_u32)number >= sizeof rules / sizeof *rules) return 0;
  cb_u32 bytes = 0;
  while (rules[number][bytes]) bytes++;
  return cb_give(rules[number], bytes);
}

/* One message at a time lies behind the data of the program; the next one replaces it. */
extern cb_u8 __heap_base;
CB_EXPORT(cb_alloc) int cb_alloc(int bytes) {
  cb_u32 begin = (CB_ADDRESS(&__heap_base) + 7u) & ~7u;
  cb_u64 end = (cb_u64)begin + (cb_u32)bytes;
  cb_u64 have = (cb_u64)__builtin_wasm_memory_size(0) << 16;
  if (end > have) {
    cb_u32 pages = (cb_u32)((end - have + 0xFFFF) >> 16);
    if (__builtin_wasm_memory_grow(0, pages) == (__SIZE_TYPE__)-1) return 0;
  }
  return (int)begin;
}

CB_EXPORT(cb_reset) void cb_reset(const void *at, int bytes) {
  (void)bytes;
  cb_on_reset(at);
}

CB_EXPORT(cb_decide) cb_u64 cb_decide(int hook, const void *at, int bytes) {
  (void)hook;
  (void)bytes;
  return cb_on_question(at);
}

#ifdef CB_READS_EVENTS
void cb_on_event(const struct cb_event *event);
CB_EXPORT(cb_append) void cb_append(const void *at, int bytes) {
  (void)bytes;
  cb_on_event(at);
}
#endif

#ifdef CB_KEEPS_STATE
/* Where the state lies and how many bytes it has. */
void *cb_state(cb_u32 *bytes);
CB_EXPORT(cb_save) cb_i64 cb_save(void) {
  cb_u32 bytes = 0;
  void *state = cb_state(&bytes);
  return cb_give(state, bytes);
}
CB_EXPORT(cb_restore) int cb_restore(const cb_u8 *at, int bytes) {
  cb_u32 wanted = 0;
  cb_u8 *state = cb_state(&wanted);
  if ((cb_u32)bytes != wanted) return 0;
  for (cb_u32 i = 0; i < wanted; i++) state[i] = at[i];
  return 1;
}
#endif

#endif
