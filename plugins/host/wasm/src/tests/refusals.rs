//! What is wrong with a module is said when it is loaded, all of it at once.

use super::*;

fn refused(parts: Parts<'_>, message: &str) {
    let found = mistakes(parts.text().as_bytes());
    assert!(found.contains(message), "{found}");
}

#[test]
fn a_module_with_an_import_is_refused_by_its_name() {
    for (import, name) in [
        (
            r#"(import "wasi_snapshot_preview1" "clock_time_get" (func (param i32 i64 i32) (result i32)))"#,
            "wasi_snapshot_preview1.clock_time_get",
        ),
        (r#"(import "env" "memory" (memory 1))"#, "env.memory"),
        (r#"(import "env" "now" (global f64))"#, "env.now"),
        (r#"(import "env" "table" (table 1 funcref))"#, "env.table"),
    ] {
        let found = mistakes(format!("(module {import})").as_bytes());
        assert!(found.contains(&format!("imports `{name}`")), "{found}");
    }
}

#[test]
fn every_missing_export_is_named() {
    let found = mistakes(b"(module)");
    for name in [
        "memory",
        "cb_abi",
        "cb_hooks",
        "cb_rule",
        "cb_alloc",
        "cb_reset",
        "cb_decide",
    ] {
        assert!(found.contains(&format!("`{name}`")), "{found}");
    }
    assert!(
        !found.contains("cb_append"),
        "what is optional may be missing: {found}"
    );
}

#[test]
fn an_export_of_another_type_is_refused() {
    let more = r#"(func (export "cb_payload") (param i32) (result i64) (i64.const 0))"#;
    refused(
        Parts { more, ..BLOCKS },
        "`cb_payload` has the type `(i32) -> i64`",
    );
    let more = r#"(global (export "cb_append") i32 (i32.const 0))"#;
    refused(Parts { more, ..BLOCKS }, "`cb_append` is no function");
    let more = r#"(func (export "cb_save") (result i64) (i64.const 0))"#;
    refused(
        Parts { more, ..BLOCKS },
        "only one of `cb_save` and `cb_restore`",
    );
}

#[test]
fn what_is_no_module_is_refused() {
    assert!(mistakes(b"").contains("no WebAssembly module"));
    assert!(mistakes(b"hello").contains("no WebAssembly module"));
    assert!(mistakes(b"\0asm\x01\0\0\0garbage").contains("not valid"));
    assert!(
        mistakes(b"\0asm\x0d\0\x01\0").contains("not valid"),
        "a component"
    );
    let large = [b"\0asm\x01\0\0\0".as_slice(), &vec![0; 5 << 20]].concat();
    assert!(mistakes(&large).contains("more than 1048576 bytes"));
}

#[test]
fn a_mistake_in_the_text_says_where() {
    let text = "(module\n  (func (result i32)\n    (i32.oops)))";
    let refused = load(text.as_bytes(), Limits::default()).unwrap_err();
    let place = refused[0].place.clone().unwrap();
    assert!(text[place.start..].starts_with("i32.oops"), "{refused:?}");
    assert!(!refused[0].message.contains('\n'), "{refused:?}");
}

#[test]
fn another_version_of_the_interface_is_refused() {
    refused(
        Parts {
            abi: "(i32.const 2)",
            ..BLOCKS
        },
        "speaks version 2",
    );
}

#[test]
fn hooks_that_do_not_exist_are_refused() {
    refused(
        Parts {
            hooks: "(i32.const 0)",
            ..BLOCKS
        },
        "never be asked",
    );
    refused(
        Parts {
            hooks: "(i32.const 512)",
            ..BLOCKS
        },
        "0x200",
    );
    refused(
        Parts {
            hooks: "(i32.const -1)",
            ..BLOCKS
        },
        "0xffffffff",
    );
}

#[test]
fn rules_have_names_of_their_own() {
    let rule = "(i64.const 0x1000000004)";
    refused(Parts { rule, ..BLOCKS }, "more than 256 rules");
    let named = |name: &str| {
        let rule = format!(
            "(select (i64.const {}) (i64.const 0) (i32.eqz (local.get 0)))",
            0x40_0000_0000_u64 + name.len() as u64
        );
        let more = format!("(data (i32.const 64) {name:?})");
        mistakes(
            Parts {
                rule: &rule,
                more: &more,
                ..BLOCKS
            }
            .text()
            .as_bytes(),
        )
    };
    for taken in [
        "default_allow",
        "plugin_fault",
        "facts_missing",
        "rewrite_conflict",
    ] {
        assert!(named(taken).contains("means something else"), "{taken}");
    }
    for bad in ["Stop", "a b", "a+b", "a-b"] {
        assert!(named(bad).contains("lower-case"), "{bad}");
    }
    let rule =
        "(select (i64.const 0x1000000004) (i64.const 0) (i32.lt_u (local.get 0) (i32.const 2)))";
    refused(Parts { rule, ..BLOCKS }, "two rules are called `stop`");
    let more = r#"(data (i32.const 16) "\ff")"#;
    refused(Parts { more, ..BLOCKS }, "not UTF-8");
    refused(
        Parts {
            rule: "(i64.const -1)",
            ..BLOCKS
        },
        "outside the memory",
    );
}

/// An instance has no imports, so one that begins honestly stays as it began: it is enough to ask
/// twice at loading.
#[test]
fn a_rule_that_changes_its_name_is_refused() {
    let more = "(global $asked (mut i32) (i32.const 0))";
    let rule = "(global.set $asked (i32.add (global.get $asked) (i32.const 1)))
      (i32.store8 (i32.const 16) (select (i32.const 0x73) (i32.const 0x74) (i32.lt_u (global.get $asked) (i32.const 3))))
      (select (i64.const 0x1000000004) (i64.const 0) (i32.eqz (local.get 0)))";
    refused(
        Parts {
            rule,
            more,
            ..BLOCKS
        },
        "no longer called `stop`",
    );
    let rule = "(global.set $asked (i32.add (global.get $asked) (i32.const 1)))
      (select (i64.const 0x1000000004) (i64.const 0) (i32.ne (global.get $asked) (i32.const 2)))";
    refused(
        Parts {
            rule,
            more,
            ..BLOCKS
        },
        "more than the 1 rules",
    );
}

#[test]
fn no_module_can_hang_or_crash_the_loading() {
    let endless = "(func $start (loop (br 0))) (start $start)";
    refused(
        Parts {
            more: endless,
            ..BLOCKS
        },
        "no instance can be made: all 50000000 units of fuel",
    );
    let trap = "(func $start unreachable) (start $start)";
    refused(
        Parts {
            more: trap,
            ..BLOCKS
        },
        "unreachable",
    );
    let deep = "(func $start (call $start) (call $start)) (start $start)";
    refused(
        Parts {
            more: deep,
            ..BLOCKS
        },
        "call stack",
    );
    for function in ["abi", "hooks", "rule"] {
        let loops = "(loop (br 0)) unreachable";
        let parts = match function {
            "abi" => Parts {
                abi: loops,
                ..BLOCKS
            },
            "hooks" => Parts {
                hooks: loops,
                ..BLOCKS
            },
            _ => Parts {
                rule: loops,
                ..BLOCKS
            },
        };
        refused(
            parts,
            &format!("`cb_{function}` fails: all 50000000 units of fuel"),
        );
    }
    let more = r#"(func (export "cb_summary") (result i64) (loop (br 0)) unreachable)"#;
    refused(Parts { more, ..BLOCKS }, "`cb_summary` fails");
}

#[test]
fn a_module_that_begins_too_large_is_refused() {
    let memory = r#"(memory (export "memory") 257)"#;
    refused(
        Parts { memory, ..BLOCKS },
        "begins with 16842752 bytes; 16777216 are allowed",
    );
    let memory = r#"(memory (export "memory") 65536)"#;
    refused(Parts { memory, ..BLOCKS }, "begins with 4294967296 bytes");
    let memory = r#"(memory (export "memory") i64 1)"#;
    refused(Parts { memory, ..BLOCKS }, "not valid");
    let memory = r#"(memory (export "memory") 1 2 shared)"#;
    refused(Parts { memory, ..BLOCKS }, "not valid");
    refused(
        Parts {
            more: "(table 4000000000 funcref)",
            ..BLOCKS
        },
        "no instance can be made",
    );
    refused(
        Parts {
            more: "(table 1 funcref)(table 1 funcref)(table 1 funcref)(table 1 funcref)(table 1 funcref)",
            ..BLOCKS
        },
        "no instance can be made",
    );
    refused(
        Parts {
            more: "(memory 1)",
            ..BLOCKS
        },
        "not valid",
    );
    let far = r#"(data (i32.const 2097152) "x")"#;
    refused(
        Parts {
            more: far,
            ..BLOCKS
        },
        "out of bounds",
    );
}

#[test]
fn the_identity_of_a_policy_is_its_bytes_and_its_limits() {
    let text = BLOCKS.text();
    let one = loaded(&text);
    assert_eq!((one.kind, one.version), ("wasm", 1));
    assert_eq!(one.content, loaded(&text).content);
    assert_ne!(one.content, loaded(&format!("{text} ")).content);
    let limits = Limits {
        fuel: 50_000_001,
        ..Limits::default()
    };
    assert_ne!(one.content, load(text.as_bytes(), limits).unwrap().content);
}

#[test]
fn a_module_may_say_what_it_is() {
    assert_eq!(BLOCKS.load().summary, "");
    let more = r#"(data (i32.const 64) "Blocks.") (func (export "cb_summary") (result i64) (i64.const 0x4000000007))"#;
    assert_eq!(Parts { more, ..BLOCKS }.load().summary, "Blocks.");
}

/// The module that stands in the book can be copied out of it.
#[test]
fn the_module_in_the_book_is_good() {
    let book = include_str!("../../../../../docs/book/wasm.md");
    let (_, rest) = book.split_once("```wat\n").unwrap();
    let loaded = loaded(rest.split_once("```").unwrap().0);
    let answer = ask(&mut *(loaded.make)(), &small_world(), Hook::Proposal);
    assert_eq!(answer.rule, "no_high_risk");
    assert!(answer.text.starts_with("Block because"), "{}", answer.text);
    assert!(answer.text.contains("OutsideUserGoal"), "{}", answer.text);
}

/// Compiling is not metered, so what makes it slow is bounded.
#[test]
fn a_module_that_takes_too_long_to_compile_is_refused() {
    let nested = |blocks: usize| {
        format!(
            "(module (func {} {}))",
            "block ".repeat(blocks),
            "end ".repeat(blocks)
        )
    };
    assert!(mistakes(nested(5_000).as_bytes()).contains("25000000 as the squares"));
    assert!(!mistakes(nested(300).as_bytes()).contains("squares"));
    let long = format!("(module (func {}))", "(drop (i32.const 1))".repeat(30_000));
    assert!(mistakes(long.as_bytes()).contains("bytes in one function"));
    let carried =
        nested(400).replacen("(func", &format!("(func (local {})", "i32 ".repeat(300)), 1);
    assert!(mistakes(carried.as_bytes()).contains("as local variables times"));
    let many = format!("(module {})", "(func)".repeat(10_001));
    assert!(mistakes(many.as_bytes()).contains("10001 functions"));
    let table = format!(
        "(module (func (block (br_table {} (i32.const 0)))))",
        "0 ".repeat(20_002)
    );
    assert!(mistakes(table.as_bytes()).contains("20001 targets"));
}
