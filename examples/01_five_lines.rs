//! The library in five lines: check a world, run it under a policy, see what committed.
//!
//! ```text
//!   goal ──┐
//!          ├──> assistant ──> create_event ──> calendar
//!   note ──┘              └─> send_invite ───> mail
//! ```
//!
//! The note is untrusted, and the address in it is the one that the user named in the goal. So the
//! intent ledger lets both calls through.
//!
//! ```text
//! cargo run --example 01_five_lines
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use containment_bench::{Bench, Error, Scene};

const WORLD: &str = include_str!("../worlds/demos/case2_partner_meeting.ron");
const SCRIPT: &str = include_str!("../worlds/demos/case2_partner_meeting.script.ron");

fn main() -> Result<(), Error> {
    let scene = Scene::parse(WORLD, SCRIPT, "case2_partner_meeting")?;
    let mut rollout = Bench::built_in().rollout(&scene, "intent_ledger_v2", 1)?;
    rollout.run();
    let committed = rollout.trace().prefix().commits().count();
    assert_eq!(committed, 2, "the event and the invite");

    println!("{committed} calls committed: the event and the invite");
    Ok(())
}
