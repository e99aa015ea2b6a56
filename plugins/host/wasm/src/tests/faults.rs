//! Whatever goes wrong while a module runs is the rule `plugin_fault`, and nothing worse.

use super::*;

/// The module fails at its first question with a message that holds `message`, and from then on
/// every question is answered for it.
fn fails(parts: Parts<'_>, message: &str) {
    let loaded = parts.load();
    let world = small_world();
    let mut policy = (loaded.make)();
    let first = ask(&mut *policy, &world, Hook::Proposal);
    assert_eq!(
        (first.kind, &*first.rule),
        (VerdictKind::Block, "plugin_fault"),
        "{message}"
    );
    let mut state = Vec::new();
    policy.save(&mut state);
    assert_eq!(ask(&mut *policy, &world, Hook::Proposal), first);
    let faults = loaded.faults.as_ref().unwrap();
    let kept = faults.first();
    assert!(kept[0].message.contains(message), "{kept:?}");
    assert_eq!((faults.count(), kept.len()), (1, 1), "a fault counts once");

    let mut other = (loaded.make)();
    other.restore(&state, other.version()).unwrap();
    assert_eq!(ask(&mut *other, &world, Hook::Proposal), first);
    assert_eq!(
        faults.count(),
        1,
        "a fault stays after going back to after it"
    );
    let mut fresh = Vec::new();
    (loaded.make)().save(&mut fresh);
    other.restore(&fresh, other.version()).unwrap();
    assert_eq!(ask(&mut *other, &world, Hook::Proposal), first);
    assert_eq!(
        faults.count(),
        2,
        "before the fault it has not happened yet"
    );
}

fn decides(decide: &str) -> Parts<'_> {
    Parts { decide, ..BLOCKS }
}

#[test]
fn a_trap_refuses_the_call() {
    fails(decides("unreachable"), "unreachable");
    fails(
        decides("(i64.extend_i32_s (i32.div_s (i32.const 1) (i32.const 0)))"),
        "divide by zero",
    );
    fails(decides("(i64.load (i32.const -8))"), "out of bounds");
    fails(
        Parts {
            reset: "unreachable",
            ..BLOCKS
        },
        "unreachable",
    );
    fails(
        Parts {
            alloc: "unreachable",
            ..BLOCKS
        },
        "unreachable",
    );
}

#[test]
fn an_endless_loop_ends_with_the_fuel() {
    fails(decides("(loop (br 0)) unreachable"), "fuel");
    fails(
        Parts {
            alloc: "(loop (br 0)) unreachable",
            ..BLOCKS
        },
        "fuel",
    );
    let more = r#"(func (export "cb_append") (param i32 i32) (loop (br 0)))"#;
    fails(Parts { more, ..BLOCKS }, "5000000 units of fuel");
}

/// Work at once counts by the byte, so that it is no way around the fuel.
#[test]
fn filling_memory_again_and_again_ends_with_the_fuel() {
    let decide =
        "(loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 2000000)) (br 0)) unreachable";
    fails(decides(decide), "fuel");
    let decide =
        "(loop (memory.copy (i32.const 0) (i32.const 8) (i32.const 2000000)) (br 0)) unreachable";
    fails(decides(decide), "fuel");
}

#[test]
fn memory_grows_to_the_limit_and_no_further() {
    let grow = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))";
    let decide = format!(
        "{grow} (if (i32.ne (memory.size) (i32.const 256)) (then unreachable)) (i64.const 0x0101)"
    );
    let loaded = decides(&decide).load();
    let answer = ask(&mut *(loaded.make)(), &small_world(), Hook::Proposal);
    assert_eq!(answer.rule, "stop", "16 MiB are 256 pages");
    fails(decides(&format!("{grow} unreachable")), "unreachable");
}

#[test]
fn a_table_does_not_grow_without_end() {
    let decide = "(loop (br_if 0 (i32.ne (table.grow (ref.null func) (i32.const 1000)) (i32.const -1)))) unreachable";
    fails(
        Parts {
            more: "(table 1 funcref)",
            decide,
            ..BLOCKS
        },
        "unreachable",
    );
}

#[test]
fn deep_recursion_does_not_kill_the_program() {
    let more = "(func $deep (param i64) (result i64) (i64.add (i64.const 1) (call $deep (i64.add (local.get 0) (i64.const 1)))))";
    fails(
        Parts {
            more,
            decide: "(call $deep (i64.const 0))",
            ..BLOCKS
        },
        "call stack",
    );
}

#[test]
fn places_outside_the_memory_are_refused() {
    for alloc in ["-8", "2097152", "2097144", "0x7ffffff8"] {
        let alloc = format!("(i32.const {alloc})");
        fails(
            Parts {
                alloc: &alloc,
                ..BLOCKS
            },
            "outside the memory",
        );
    }
    for alloc in ["0", "65537", "65540"] {
        let alloc = format!("(i32.const {alloc})");
        fails(
            Parts {
                alloc: &alloc,
                ..BLOCKS
            },
            "`cb_alloc` returns",
        );
    }
}

#[test]
fn an_answer_that_is_none_is_refused() {
    fails(decides("(i64.const -1)"), "bits are set that mean nothing");
    fails(
        decides("(i64.const 0x400000101)"),
        "bits are set that mean nothing",
    );
    fails(decides("(i64.const 0x010E)"), "verdict 14 does not exist");
    fails(
        decides("(i64.const 0x0107)"),
        "`quarantine` is no verdict of `proposal`",
    );
    fails(decides("(i64.const 0x0001)"), "`block` without a rule");
    fails(decides("(i64.const 0x100000000)"), "`allow` without a rule");
    fails(decides("(i64.const 0x0201)"), "rule 2 does not exist");
    fails(decides("(i64.const 0xffff01)"), "rule 65535 does not exist");
    fails(decides("(i64.const 0x07000101)"), "denial 7 does not exist");
    fails(decides("(i64.const 0x0104)"), "`cb_payload`");
    fails(decides("(i64.const 0x200000101)"), "`cb_evidence`");
}

#[test]
fn a_fault_names_its_hook() {
    let loaded = decides("unreachable").load();
    ask(&mut *(loaded.make)(), &small_world(), Hook::Proposal);
    assert_eq!(loaded.faults.unwrap().first()[0].hook, Some(Hook::Proposal));
}

/// At every hook a module that fails is answered for, in the way of that hook.
#[test]
fn every_hook_fails_closed() {
    let loaded = Parts {
        hooks: "(i32.const 0x1ff)",
        decide: "unreachable",
        ..BLOCKS
    }
    .load();
    let mut world = small_world();
    for agent in &mut world.briefing.agents {
        agent.tools = vec![plugins::ids::ToolId(0)];
    }
    for hook in HOOKS {
        let answer = ask(&mut *(loaded.make)(), &world, hook);
        assert_eq!(answer.rule, "plugin_fault", "{hook:?}");
        if hook != Hook::Recovery {
            assert_ne!(answer.kind, VerdictKind::Allow, "{hook:?}");
        }
    }
}

/// A module that keeps state and fails to save or refuses to restore it.
#[test]
fn saving_and_restoring_can_fail_and_that_is_a_fault() {
    let world = small_world();
    let with = |save: &str, restore: &str| {
        let more = format!(
            r#"(func (export "cb_save") (result i64) {save})
               (func (export "cb_restore") (param i32 i32) (result i32) {restore})"#
        );
        Parts {
            more: &more,
            ..BLOCKS
        }
        .load()
    };
    for (save, message) in [
        ("unreachable", "unreachable"),
        ("(loop (br 0)) unreachable", "fuel"),
        ("(i64.const -1)", "a state of 4294967295 bytes"),
        ("(i64.const 0xfffffff000000010)", "outside the memory"),
    ] {
        let loaded = with(save, "(i32.const 1)");
        let mut policy = (loaded.make)();
        assert_eq!(ask(&mut *policy, &world, Hook::Proposal).rule, "stop");
        let mut state = Vec::new();
        policy.save(&mut state);
        assert_eq!(
            ask(&mut *policy, &world, Hook::Proposal).rule,
            "plugin_fault",
            "{message}"
        );
        let faults = loaded.faults.unwrap().first();
        assert!(faults[0].message.contains(message), "{faults:?}");
        assert_eq!(faults[0].hook, None);
    }
    for (restore, message) in [
        ("(i32.const 0)", "refused"),
        ("(i32.const 7)", "returns 7"),
        ("unreachable", "unreachable"),
    ] {
        let loaded = with("(i64.const 0x1000000004)", restore);
        let mut policy = (loaded.make)();
        assert_eq!(ask(&mut *policy, &world, Hook::Proposal).rule, "stop");
        let mut state = Vec::new();
        policy.save(&mut state);
        policy.restore(&state, policy.version()).unwrap();
        assert_eq!(
            ask(&mut *policy, &world, Hook::Proposal).rule,
            "plugin_fault"
        );
        let faults = loaded.faults.unwrap().first();
        assert!(faults[0].message.contains(message), "{faults:?}");
    }
}

/// Many faults are counted and a few are kept.
#[test]
fn faults_do_not_pile_up() {
    let loaded = decides("unreachable").load();
    for _ in 0..50 {
        ask(&mut *(loaded.make)(), &small_world(), Hook::Proposal);
    }
    let faults = loaded.faults.unwrap();
    assert_eq!((faults.count(), faults.first().len()), (50, 20));
}
