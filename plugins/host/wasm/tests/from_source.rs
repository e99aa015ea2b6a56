//! The committed module is what its source says: built again here, it is the same bytes.
//!
//! Needs clang and lld 19 (`apt-get install --no-install-recommends clang-19 lld-19`), so it is
//! part of the tests only with the feature `build-from-source`. Without the compiler it fails.
#![cfg(feature = "build-from-source")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a test that runs a compiler needs files and a process"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use plugins::conformance::check_policy;
use wasm_host::{Language, Limits, load, template};

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Builds a policy in C by the command that its text names.
fn build(source: &Path, into: &Path) -> Vec<u8> {
    let status = Command::new("clang-19")
        .args(["--target=wasm32-unknown-unknown", "-O2", "-mbulk-memory"])
        .args(["-Wall", "-Wextra", "-Werror", "-nostdlib"])
        .args(["-Wl,--no-entry", "-Wl,--strip-all"])
        .arg("-I")
        .arg(root().join("plugins/host/wasm/kit"))
        .arg("-o")
        .arg(into)
        .arg(source)
        .status()
        .expect("clang-19 is installed: apt-get install --no-install-recommends clang-19 lld-19");
    assert!(status.success(), "clang-19 {status}");
    std::fs::read(into).expect("the compiler wrote it")
}

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

#[test]
fn the_committed_recipient_guard_is_its_source() {
    let policies = root().join("policies/recipient_guard");
    let into = folder("committed").join("recipient_guard.wasm");
    let built = build(&policies.join("recipient_guard.c"), &into);
    let committed = std::fs::read(policies.join("recipient_guard.wasm")).unwrap();
    assert!(
        built == committed,
        "the source builds to {} other bytes than the {} committed",
        built.len(),
        committed.len()
    );
}

#[test]
fn the_template_in_c_builds_and_keeps_to_the_laws() {
    let folder = folder("template");
    for (file, text) in template(Language::C, "my_guard") {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let built = build(&folder.join("my_guard.c"), &folder.join("my_guard.wasm"));
    assert!(
        built == include_bytes!("modules/c.wasm"),
        "the committed module is another"
    );
    let loaded = load(&built, Limits::default()).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 24), []);
    assert_eq!(loaded.faults.unwrap().first(), []);
}

/// A policy that reads events and keeps state uses every part of the header.
#[test]
fn state_and_events_of_the_header_build_and_keep_to_the_laws() {
    let folder = folder("state");
    let source = r#"
#define CB_HOOKS (CB_AT(CB_PROPOSAL) | CB_AT(CB_MEMORY_WRITE))
#define CB_RULES "every_third", "after_a_commit"
#define CB_READS_EVENTS
#define CB_KEEPS_STATE
#include "containment.h"
static struct { cb_u32 asked, spare[40]; } own;
static cb_u32 commits;
void *cb_state(cb_u32 *bytes) { *bytes = sizeof own; return &own; }
void cb_on_reset(const struct cb_briefing *briefing) {
  (void)briefing;
  commits = 0;
  own.asked = 0;
}
void cb_on_event(const struct cb_event *event) { commits += event->kind == 10; }
cb_ruling cb_on_question(const struct cb_question *question) {
  own.asked++;
  if (question->all.committed != commits) __builtin_trap();
  if (own.asked % 3 == 0) return cb_rule_says(0, CB_BLOCK, CB_OUTSIDE_USER_GOAL);
  if (commits > 0) return cb_rule_says(1, CB_CONFIRM, CB_CONFIRMATION_REQUIRED);
  return CB_NEUTRAL;
}
"#;
    std::fs::write(folder.join("state.c"), source).unwrap();
    let built = build(&folder.join("state.c"), &folder.join("state.wasm"));
    let loaded = load(&built, Limits::default()).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 24), []);
    let refused = |message: &str| message.contains("refused");
    let faults = loaded.faults.unwrap().first();
    assert!(
        faults.iter().all(|fault| refused(&fault.message)),
        "{faults:?}"
    );
}
