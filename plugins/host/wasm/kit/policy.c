/* NAME: blocks a call that takes a recipient from untrusted content.
 *
 * Build it and put it to the test:
 *
 *   clang-19 --target=wasm32-unknown-unknown -O2 -mbulk-memory -nostdlib -Wl,--no-entry \
 *     -Wl,--strip-all -o NAME.wasm NAME.c
 *   containment plugin check wasm:NAME.wasm
 */
#define CB_HOOKS CB_AT(CB_PROPOSAL)
#define CB_RULES "tainted_recipient"
#include "containment.h"

enum { TAINTED_RECIPIENT };

/* A rollout begins, or is read again from its beginning. */
void cb_on_reset(const struct cb_briefing *briefing) { (void)briefing; }

cb_ruling cb_on_question(const struct cb_question *question) {
  /* Only CB_PROPOSAL is declared, so every question is about a call. */
  const struct cb_call_question *call = (const struct cb_call_question *)question;
  if ((call->flags & CB_HIGH_RISK) && cb_tainted_role(call, CB_RECIPIENT))
    return cb_rule_says(TAINTED_RECIPIENT, CB_BLOCK, CB_TAINTED_PRIVILEGE_JUMP);
  return CB_NEUTRAL;
}
