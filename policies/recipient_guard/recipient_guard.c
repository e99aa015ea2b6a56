/* recipient_guard: no call takes its recipient from untrusted content, none happens that the user
 * did not ask for, and not many.
 *
 *   clang-19 --target=wasm32-unknown-unknown -O2 -mbulk-memory -nostdlib -Wl,--no-entry -Wl,--strip-all \
 *     -Iplugins/host/wasm/kit -o policies/recipient_guard/recipient_guard.wasm \
 *     policies/recipient_guard/recipient_guard.c
 */
#define CB_HOOKS CB_AT(CB_PROPOSAL)
#define CB_RULES "tainted_recipient", "unlisted_action", "too_many_commits", "allow_listed_action"
#include "containment.h"

enum { TAINTED_RECIPIENT, UNLISTED_ACTION, TOO_MANY_COMMITS, ALLOW_LISTED_ACTION };

#define MOST_COMMITS 2u

static const char summary[] =
    "Blocks tainted recipients and more than two high-risk calls, confirms what is not listed";

CB_EXPORT(cb_summary) cb_i64 cb_summary(void) { return cb_give(summary, sizeof summary - 1); }

void cb_on_reset(const struct cb_briefing *briefing) { (void)briefing; }

cb_ruling cb_on_question(const struct cb_question *question) {
  const struct cb_call_question *call = (const struct cb_call_question *)question;
  if (!(call->flags & CB_HIGH_RISK)) return CB_NEUTRAL;
  if (cb_tainted_role(call, CB_RECIPIENT))
    return cb_rule_says(TAINTED_RECIPIENT, CB_BLOCK, CB_TAINTED_PRIVILEGE_JUMP);
  if (call->ledger_entry == CB_NONE)
    return cb_rule_says(UNLISTED_ACTION, CB_CONFIRM, CB_CONFIRMATION_REQUIRED);
  if (question->high_risk.committed >= MOST_COMMITS)
    return cb_rule_says(TOO_MANY_COMMITS, CB_BLOCK, CB_OUTSIDE_USER_GOAL);
  return cb_rule_says(ALLOW_LISTED_ACTION, CB_ALLOW, CB_PLUGIN_FAULT);
}
