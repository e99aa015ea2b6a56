//! The beginnings of the kit, built once in each language and committed under `tests/modules`,
//! decide alike. That the one in C is what its text says is shown with `build-from-source`.

use plugins::conformance::check_policy;
use plugins::conformance::generate::random_world;
use plugins::reason::Hooks;

use super::*;

const MODULES: [(&str, &[u8]); 3] = [
    ("c", include_bytes!("../../tests/modules/c.wasm")),
    (
        "assemblyscript",
        include_bytes!("../../tests/modules/assemblyscript.wasm"),
    ),
    ("rust", include_bytes!("../../tests/modules/rust.wasm")),
];

#[test]
fn every_beginning_keeps_to_the_laws() {
    for (language, bytes) in MODULES {
        let loaded = load(bytes, Limits::default()).unwrap();
        assert_eq!((loaded.make)().hooks(), Hooks::PROPOSAL);
        assert_eq!(check_policy(&|| (loaded.make)(), 24), [], "{language}");
        assert_eq!(loaded.faults.unwrap().first(), [], "{language}");
    }
}

#[test]
fn every_beginning_blocks_tainted_recipients_and_nothing_else() {
    for (language, bytes) in MODULES {
        let loaded = load(bytes, Limits::default()).unwrap();
        let mut blocked = 0;
        for seed in 0..200 {
            let world = random_world(seed);
            let mut policy = (loaded.make)();
            let mut draws = Draws::new(RolloutKey::new(1, "kit".into(), seed));
            let view = &mut world.view(&mut draws);
            for call in (0..world.trace.calls.len()).map(CallId::at) {
                let proposal = world.proposal(call);
                let seen = proposal.view();
                let mut recipients = seen.with_role(Role::Recipient);
                let tainted = recipients.any(|recipient| view.tainted(recipient.label));
                let is_blocked = proposal.tool.high_risk() && tainted;
                let rule = policy.on_proposal(view, proposal).reason.rule;
                let expected = ["default_allow", "tainted_recipient"][usize::from(is_blocked)];
                assert_eq!(rule, expected, "{language}, world {seed}");
                blocked += u32::from(is_blocked);
            }
        }
        assert!(blocked > 20, "{language}");
    }
}
