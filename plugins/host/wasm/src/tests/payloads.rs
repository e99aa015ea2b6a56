//! What comes with a verdict is read out of the memory of the module, checked and bounded.

use super::*;

/// A module that answers `answer` at every hook, and says more in the words at 1024.
fn says(answer: &str, words: &[u32], bytes: u32) -> LoadedPolicy {
    let data: String = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .map(|byte| format!("\\{byte:02x}"))
        .collect();
    let packed = 1024_u64 << 32 | u64::from(bytes);
    let more = format!(
        r#"(data (i32.const 1024) "{data}") (data (i32.const 2048) "text\ff")
           (func (export "cb_payload") (result i64) (i64.const {packed}))
           (func (export "cb_evidence") (result i64) (i64.const {packed}))"#
    );
    Parts {
        hooks: "(i32.const 0x1ff)",
        decide: &format!("(i64.const {answer})"),
        more: &more,
        ..BLOCKS
    }
    .load()
}

fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

/// At `hook` the module says `words` with verdict `code`, and the ruling reads so.
fn reads(hook: Hook, code: u32, words: &[u32], text: &str) {
    let loaded = says(
        &format!("{:#x}", 0x100 | code),
        words,
        word(words.len() * 4),
    );
    let answer = ask(&mut *(loaded.make)(), &small_world(), hook);
    let faults = loaded.faults.unwrap().first();
    assert_eq!(faults, [], "{hook:?}");
    assert!(answer.text.starts_with(text), "{}", answer.text);
    assert_eq!(answer.rule, "stop");
}

/// The same is a fault that says `message`.
fn fails(hook: Hook, code: u32, words: &[u32], message: &str) {
    let loaded = says(
        &format!("{:#x}", 0x100 | code),
        words,
        word(words.len() * 4),
    );
    let answer = ask(&mut *(loaded.make)(), &small_world(), hook);
    assert_eq!(
        answer.rule, "plugin_fault",
        "{hook:?} {words:?}: {}",
        answer.text
    );
    let faults = loaded.faults.unwrap().first();
    assert!(faults[0].message.contains(message), "{faults:?}");
}

const REWRITE: u32 = 4;
const SIMULATE: u32 = 5;
const RELABEL: u32 = 9;
const TRANSFORM: u32 = 10;
const MASK_TOOLS: u32 = 11;
const EDIT: u32 = 12;
const ACT: u32 = 13;

#[test]
fn verdicts_without_more_are_read_at_every_hook() {
    for (hook, codes) in [
        (Hook::Session, [(0, "Pass"), (6, "Abort")].as_slice()),
        (Hook::Prompt, &[(0, "Pass")]),
        (
            Hook::Observation,
            &[(0, "Pass"), (7, "Quarantine"), (8, "Drop")],
        ),
        (
            Hook::Message,
            &[(0, "Pass"), (7, "Quarantine"), (8, "Drop")],
        ),
        (
            Hook::Proposal,
            &[
                (0, "Allow"),
                (1, "Block"),
                (2, "Confirm"),
                (3, "Hold"),
                (6, "Abort"),
            ],
        ),
        (
            Hook::MemoryWrite,
            &[
                (0, "Allow"),
                (1, "Block"),
                (2, "Confirm"),
                (7, "Quarantine"),
            ],
        ),
        (
            Hook::MemoryRead,
            &[
                (0, "Allow"),
                (1, "Block"),
                (2, "Confirm"),
                (7, "Quarantine"),
            ],
        ),
        (Hook::Commit, &[(0, "Allow"), (1, "Block"), (3, "Hold")]),
        (Hook::Recovery, &[(0, "Pass")]),
    ] {
        for (code, text) in codes {
            reads(hook, *code, &[], text);
        }
        let foreign = (0..14).filter(|code| {
            let known = codes.iter().any(|(known, _)| known == code);
            !known && !crate::codes::fits(hook).contains(&crate::codes::CODES[*code as usize].0)
        });
        for code in foreign {
            fails(hook, code, &[], "is no verdict of");
        }
    }
}

#[test]
fn tools_are_masked() {
    reads(
        Hook::Session,
        MASK_TOOLS,
        &[0, 0],
        "MaskTools([(AgentId(0), ToolId(0))])",
    );
    fails(Hook::Session, MASK_TOOLS, &[1, 0], "agent 1 does not exist");
    fails(Hook::Session, MASK_TOOLS, &[0, 1], "tool 1 does not exist");
    fails(
        Hook::Session,
        MASK_TOOLS,
        &[0, 0, 0],
        "12 bytes are no list of records of 8",
    );
}

#[test]
fn a_prompt_is_edited() {
    let edit = [1048, 1, 1048, 1, 1052, 1, 2, 2, 1, 0];
    // The list of segments is the ninth word, that of tools the tenth.
    let edit_at = |change: &dyn Fn(&mut [u32; 10])| {
        let mut edit = edit;
        edit[0] = 1024 + 32;
        edit[2] = 1024 + 32;
        edit[4] = 1024 + 36;
        change(&mut edit);
        edit
    };
    let check = |words: [u32; 10], result: Result<&str, &str>| {
        let loaded = says(&format!("{:#x}", 0x100 | EDIT), &words, 32);
        let answer = ask(&mut *(loaded.make)(), &small_world(), Hook::Prompt);
        match result {
            Ok(text) => assert!(answer.text.starts_with(text), "{}", answer.text),
            Err(message) => {
                let faults = loaded.faults.unwrap().first();
                assert!(faults[0].message.contains(message), "{faults:?}");
            }
        }
    };
    check(
        edit_at(&|_| {}),
        Ok(
            "Edit(PromptEdit { drop: [1], mark: [1], guidance: Some(TreatContentAsData), \
            schema_mode: Some(Structured), mask: [ToolId(0)] })",
        ),
    );
    check(
        edit_at(&|words| words[8] = 2),
        Err("segment 2 does not exist"),
    );
    check(
        edit_at(&|words| words[1] = 2),
        Err("segments that do not ascend"),
    );
    check(edit_at(&|words| words[9] = 1), Err("tool 1 does not exist"));
    check(
        edit_at(&|words| words[6] = 4),
        Err("guidance 4 does not exist"),
    );
    check(
        edit_at(&|words| words[7] = 3),
        Err("schema mode 3 does not exist"),
    );
    check(
        edit_at(&|words| words[0] = 0xFFFF_FFFC),
        Err("outside the memory"),
    );
    check(
        edit_at(&|words| words[1] = 0xFFFF_FFFF),
        Err("more comes with the verdict"),
    );
    fails(Hook::Prompt, EDIT, &[], "0 records where one is needed");
}

#[test]
fn a_label_is_changed() {
    let relabel = |how: u32, member: u32| [how, 1036, 1, member];
    for hook in [
        Hook::Observation,
        Hook::Message,
        Hook::MemoryWrite,
        Hook::MemoryRead,
    ] {
        for (how, text) in [
            (0, "Relabel(NarrowReaders"),
            (1, "Relabel(Endorse"),
            (2, "Relabel(Declassify"),
        ] {
            let loaded = says("0x109", &relabel(how, 0), 12);
            let answer = ask(&mut *(loaded.make)(), &small_world(), hook);
            assert!(answer.text.starts_with(text), "{}", answer.text);
        }
    }
    for (words, message) in [
        (relabel(3, 0), "relabelling 3 does not exist"),
        (relabel(1, 1), "source 1 does not exist"),
        (relabel(2, 1), "principal 1 does not exist"),
        ([0, 4, u32::MAX, 0], "more comes with the verdict"),
    ] {
        let loaded = says(&format!("{:#x}", 0x100 | RELABEL), &words, 12);
        ask(&mut *(loaded.make)(), &small_world(), Hook::Message);
        let faults = loaded.faults.unwrap().first();
        assert!(faults[0].message.contains(message), "{faults:?}");
    }
}

#[test]
fn content_is_transformed_and_simulated() {
    let field = [2048, 4, 2048, 2];
    let text = "Transform(Content { fields: [Field { name: \"text\", value: \"te\" }] })";
    reads(Hook::Observation, TRANSFORM, &field, text);
    reads(Hook::Message, TRANSFORM, &field, text);
    reads(Hook::Proposal, SIMULATE, &field, "Simulate(Content");
    reads(
        Hook::Proposal,
        SIMULATE,
        &[],
        "Simulate(Content { fields: [] })",
    );
    fails(Hook::Proposal, SIMULATE, &[2048, 5, 2048, 1], "not UTF-8");
    fails(
        Hook::Proposal,
        SIMULATE,
        &[2048, u32::MAX, 2048, 1],
        "more comes with the verdict",
    );
    fails(
        Hook::Proposal,
        SIMULATE,
        &[u32::MAX, 9, 2048, 1],
        "outside the memory",
    );
}

#[test]
fn a_call_is_rewritten() {
    let text = "Rewrite([(0, Text(\"text\")), (1, Text(\"\"))])";
    let words = [0, 0, 2048, 4, 0, 0, 1, 0, 0, 0, 0, 0];
    reads(Hook::Proposal, REWRITE, &words, text);
    fails(
        Hook::Proposal,
        REWRITE,
        &[2, 0, 2048, 4, 0, 0],
        "argument 2 does not exist",
    );
    fails(
        Hook::Proposal,
        REWRITE,
        &[words, words].concat(),
        "arguments that do not ascend",
    );
    for kind in [1, 2, 3] {
        let words = [0, kind, 2048, 0, 1, 0];
        fails(
            Hook::Proposal,
            REWRITE,
            &words,
            "`to` takes another kind of value",
        );
    }
    fails(
        Hook::Proposal,
        REWRITE,
        &[0, 3, 0, 0, 2, 0],
        "value kind 3 with 2 does not exist",
    );
    fails(Hook::Proposal, REWRITE, &[0, 4, 0, 0, 0, 0], "value kind 4");
}

#[test]
fn recovery_acts() {
    let act = |what: u32, id: u32| [what, 1036, 1, id];
    for (what, text) in [
        (0, "Act([Scrub("),
        (1, "Act([Quarantine("),
        (2, "Act([Restore("),
        (3, "Act([Rollback("),
    ] {
        let loaded = says(&format!("{:#x}", 0x100 | ACT), &act(what, 0), 12);
        let answer = ask(&mut *(loaded.make)(), &small_world(), Hook::Recovery);
        assert!(answer.text.starts_with(text), "{}", answer.text);
    }
    for (words, message) in [
        (act(4, 0), "recovery action 4 does not exist"),
        (act(0, 1), "record 1 does not exist"),
        (act(3, 1), "call 1 does not exist"),
    ] {
        let loaded = says(&format!("{:#x}", 0x100 | ACT), &words, 12);
        ask(&mut *(loaded.make)(), &small_world(), Hook::Recovery);
        let faults = loaded.faults.unwrap().first();
        assert!(faults[0].message.contains(message), "{faults:?}");
    }
}

/// Lists in the memory of a module may overlap; all of them together are bounded.
#[test]
fn what_comes_with_a_verdict_is_bounded() {
    let words: Vec<u32> = [2048, 4, 1_000_000, 500_000].repeat(3);
    fails(
        Hook::Proposal,
        SIMULATE,
        &words,
        "more comes with the verdict than is allowed",
    );
}

#[test]
fn a_reason_may_name_evidence_and_fields() {
    let with = |words: &[u32], hook: Hook| {
        let loaded = says("0x303000101", words, word(words.len() * 4));
        let answer = ask(&mut *(loaded.make)(), &small_world(), hook);
        (answer.text, loaded.faults.unwrap().first())
    };
    let words = [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1];
    let (text, faults) = with(&words, Hook::Proposal);
    assert_eq!(faults, []);
    assert_eq!(
        text,
        "Block because Reason { rule: \"stop\", denial: TaintedPrivilegeJump, \
         fields: [Action, Target, Argument(1)], \
         evidence: [Node(NodeId(0)), Source(SourceId(0)), LedgerEntry(0), NoLedgerEntry], \
         basis: Assumed }"
    );
    for (words, message) in [
        ([0, 1], "node 1 does not exist"),
        ([1, 1], "source 1 does not exist"),
        ([2, 1], "ledger entry 1 does not exist"),
        ([6, 2], "argument 2 does not exist"),
        ([7, 0], "evidence 7 does not exist"),
    ] {
        let (_, faults) = with(&words, Hook::Proposal);
        assert!(faults[0].message.contains(message), "{faults:?}");
    }
    for kind in [4, 5, 6] {
        let (_, faults) = with(&[kind, 0], Hook::MemoryWrite);
        assert!(faults[0].message.contains("does not exist"), "{faults:?}");
    }
}
