//! Golden digests: one per shipped world and policy, with the length of the trace beside it. The
//! length says that the encoding changed, the digest that a value did.

use containment_bench::bench::setting;

use crate::support::{POLICIES, root, shipped, start};

const FILE: &str = "tests/it/golden/digests.txt";

/// One line per world and policy: path, policy, nodes, edges, events, digest.
fn digests() -> String {
    let mut lines = String::new();
    for (path, scene) in shipped() {
        for policy in POLICIES {
            let mut rollout = start(&scene, policy, &setting(&scene, 1));
            rollout.run();
            let trace = rollout.trace();
            let (nodes, edges, events) = (trace.nodes.len(), trace.edges.len(), trace.events.len());
            lines.push_str(&format!(
                "{path} {policy} {nodes} {edges} {events} {:032x}\n",
                rollout.trace_digest()
            ));
        }
    }
    lines
}

/// Also run without optimisation: debug equals release.
#[test]
fn golden_digests_of_shipped_worlds() {
    let path = root().join(FILE);
    let found = digests();
    #[expect(
        clippy::disallowed_methods,
        reason = "recording is asked for by `cargo xtask golden`"
    )]
    let record = std::env::var_os("CONTAINMENT_RECORD_GOLDEN").is_some();
    if record {
        std::fs::create_dir_all(path.parent().expect("a folder"))
            .expect("the folder of golden files");
        std::fs::write(&path, &found).expect("the golden file");
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    for (recorded, found) in recorded.lines().zip(found.lines()) {
        assert_eq!(
            found, recorded,
            "if this change is meant, explain it in CHANGELOG.md and run `cargo xtask golden`"
        );
    }
    assert_eq!(
        found.lines().count(),
        recorded.lines().count(),
        "worlds or policies came or went: run `cargo xtask golden`"
    );
}
