//! Each thing that a process can do wrong, and that it is a refusal and not an answer.

use super::*;

/// The first question is refused, and so is all that follows, whatever the process would say.
#[track_caller]
fn refused(script: &str, limits: &str, message: &str) -> Fault {
    let loaded = scripted(script, limits).load();
    let mut instance = (loaded.make)();
    let world = world();
    for call in 0..3 {
        let ruling = propose(&mut *instance, &world, call);
        assert_eq!(ruling, plugins::fault::on_proposal());
    }
    drop(instance);
    let fault = only_fault(&loaded);
    assert!(fault.message.contains(message), "{fault:?}");
    assert_eq!(fault.hook, Some(plugins::policy::Hook::Proposal));
    fault
}

const ALLOW: &str = "{'verdict': 'allow'}";

#[test]
fn a_process_that_does_not_start_is_no_policy() {
    let load_text = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.process.ron");
        fs::write(&path, text).unwrap();
        load(&path).unwrap_err().remove(0)
    };
    let missing = load_text("Process(command: [\"no-such-interpreter\"], files: [])");
    assert!(missing.message.contains("cannot be started"), "{missing:?}");
    let gone = load_text("Process(command: [\"python3\", \"gone.py\"], files: [])");
    assert!(gone.message.contains("closed its"), "{gone:?}");
    assert!(gone.help.unwrap().contains("gone.py"));
    let mute = "Process(command: [\"sleep\", \"1000\"], files: [], start_ms: 200)";
    assert!(load_text(mute).message.contains("no answer within 200 ms"));
    let chatty = scripted(&format!("print('ready')\n{}", replying(ALLOW)), "");
    let refused = load(&chatty.description).unwrap_err().remove(0);
    let possible = ["no hello", "before it was asked", "nobody asked for"];
    assert!(
        possible.iter().any(|text| refused.message.contains(text)),
        "{refused:?}"
    );
    let attacker = scripted(&replying(ALLOW), "");
    assert!(load_attacker(&attacker.description).is_err());
}

#[test]
fn a_process_that_dies_has_not_answered() {
    let fault = refused(
        &answering("sys.stderr.write('out of ideas')\nsys.exit(3)"),
        "",
        "exit status 3",
    );
    assert_eq!(fault.standard_error, "out of ideas");
    refused(&answering("os.kill(os.getpid(), 9)"), "", "signal 9");
    let half = "sys.stdout.write('{\"id\": 1, \"verdict\":'); sys.stdout.flush(); sys.exit(0)";
    refused(&answering(half), "", "closed its output");
}

#[test]
fn a_process_that_hangs_is_too_late() {
    refused(
        &answering("time.sleep(1000)"),
        "answer_ms: 300",
        "no answer within 300 ms",
    );
    let slow = format!("time.sleep(0.6)\nsay({{'id': m['id'], **{ALLOW}}})");
    refused(
        &answering(&slow),
        "answer_ms: 300",
        "no answer within 300 ms",
    );
}

#[test]
fn what_is_no_json_is_no_answer() {
    refused(
        &answering("print('yes', flush=True)"),
        "",
        "no answer: no object: yes",
    );
    refused(
        &answering("print('', flush=True)"),
        "",
        "no answer: no object",
    );
    refused(&answering("say([1, 'allow'])"), "", "no object");
    refused(&answering("say({'id': 1})"), "", "missing field `verdict`");
    let twice = "print('{\"id\": 1, \"verdict\": \"block\", \"verdict\": \"allow\"}', flush=True)";
    refused(&answering(twice), "", "duplicate field `verdict`");
    let bytes = "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()";
    refused(&answering(bytes), "", "not UTF-8");
}

#[test]
fn an_answer_to_another_question_is_none() {
    let other = "say({'id': m['id'] + 1, 'verdict': 'allow'})";
    refused(
        &answering(other),
        "",
        "answers question 2, and question 1 was asked",
    );
    refused(
        &answering("say({'id': -1, 'verdict': 'allow'})"),
        "",
        "no answer",
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one of each, in one table")]
fn verdicts_rules_and_words_that_do_not_exist_are_refused() {
    let block = "'verdict': 'block', 'rule': 'r', 'denial': 'outside_user_goal'";
    for (answer, message) in [
        ("'verdict': 'permit'", "`permit` is none of: allow, block"),
        (
            "'verdict': 'quarantine', 'rule': 'r'",
            "`quarantine` is none of",
        ),
        ("'verdict': 'block'", "`block` without `rule`"),
        (
            "'verdict': 'block', 'rule': 'r'",
            "`block` without `denial`",
        ),
        ("'verdict': 'allow', 'rule': 'No Rule'", "no name of a rule"),
        ("'verdict': 'allow', 'rule': 'a+b'", "no name of a rule"),
        (
            "'verdict': 'allow', 'rule': 'default_allow'",
            "the program's own",
        ),
        (
            "'verdict': 'allow', 'rule': 'plugin_fault'",
            "the program's own",
        ),
        (
            "'verdict': 'allow', 'rule': 'facts_missing'",
            "the program's own",
        ),
        (
            "'verdict': 'allow', 'rule': 'rewrite_conflict'",
            "the program's own",
        ),
        (
            "'verdict': 'allow', 'basis': 'exact'",
            "`basis` without `rule`",
        ),
        (
            "'verdict': 'allow', 'reason': 'r'",
            "unknown field `reason`",
        ),
        (
            "'verdict': 'allow', 'content': []",
            "does not belong to `allow`",
        ),
        ("'verdict': 'allow', 'state': 1", "did not say in its hello"),
        (
            "'verdict': 'rewrite', 'rule': 'r'",
            "without its `arguments`",
        ),
        (
            "'verdict': 'rewrite', 'rule': 'r', 'arguments': {'cc': 'a'}",
            "no argument `cc`",
        ),
        (
            "'verdict': 'rewrite', 'rule': 'r', 'arguments': {'to': 7}",
            "takes a text",
        ),
        (
            &format!("{block}, 'fields': ['argument:cc']"),
            "no argument `cc`",
        ),
        (
            &format!("{block}, 'fields': ['cc']"),
            "field `cc` is none of",
        ),
        (
            &format!("{block}, 'evidence': ['node:99']"),
            "does not exist",
        ),
        (
            &format!("{block}, 'evidence': ['source:doc:gone']"),
            "does not exist",
        ),
        (
            &format!("{block}, 'evidence': ['ledger:1']"),
            "does not exist",
        ),
        (
            &format!("{block}, 'evidence': ['because']"),
            "is none of: node:ID",
        ),
        (
            &format!("{block}, 'basis': 'sure'"),
            "`sure` is none of: exact, assumed",
        ),
        (
            "'verdict': 'block', 'rule': 'r', 'denial': 'no'",
            "`no` is none of",
        ),
    ] {
        refused(&replying(&format!("{{{answer}}}")), "", message);
    }
}

/// The first answer stands: what came after it is noticed at the next question at the latest.
#[test]
fn a_second_line_is_a_fault_of_the_next_question() {
    for surplus in [
        "say({'id': m['id'], 'verdict': 'allow'})",
        "say({'id': m['id'], 'verdict': 'allow'}); say({})",
        "print('{\"id\": %d, \"verdict\": \"allow\"}\\nmore' % m['id'], flush=True)",
    ] {
        let twice = format!("say({{'id': m['id'], 'verdict': 'allow'}})\n{surplus}");
        let loaded = policy(&answering(&twice));
        let mut instance = (loaded.make)();
        assert_eq!(
            rules(&mut *instance),
            ["default_allow", PLUGIN_FAULT, PLUGIN_FAULT]
        );
        drop(instance);
        only_fault(&loaded);
    }
}

#[test]
fn a_flood_is_cut_off() {
    let endless = "while True: sys.stdout.write('x' * 65536)";
    refused(
        &answering(endless),
        "line_bytes: 100000",
        "a line of more than 100000 bytes",
    );
    let long = "say({'id': m['id'], 'verdict': 'allow', 'rule': 'x' * 5000})";
    refused(
        &answering(long),
        "line_bytes: 1000",
        "a line of more than 1000 bytes",
    );
    refused(&answering("while True: print('{}')"), "", "no answer");
}

#[test]
fn standard_error_never_blocks_and_its_end_is_kept() {
    let loud = format!(
        "sys.stderr.write('x' * 1000000 + 'y' * 9000 + 'last words')\nsys.stderr.flush()\nsay({{'id': m['id'], **{ALLOW}}})"
    );
    let loaded = policy(&answering(&loud));
    let mut instance = (loaded.make)();
    assert_eq!(rules(&mut *instance), ["default_allow"; 3]);
    drop(instance);
    no_faults(&loaded);
    let fault = refused(
        &answering(&format!(
            "{}\nsys.exit(1)",
            loud.replace("say(", "(lambda x: x)(")
        )),
        "",
        "",
    );
    assert_eq!(fault.standard_error.len(), 8 << 10);
    assert!(fault.standard_error.ends_with("last words"));
}

#[test]
fn a_process_that_never_reads_does_not_hold_us() {
    let deaf = format!("{PRELUDE}\nsay(HELLO)\ntime.sleep(1000)\n");
    let loaded = scripted(&deaf, "answer_ms: 500").load();
    let mut world = world();
    let long = Value::text(&"long ".repeat(1 << 20));
    let label = world.label_of(&[]);
    let call = world.add_call(plugins::ids::ToolId(0), vec![given(1, long, label)]);
    let mut instance = (loaded.make)();
    let ruling = propose(&mut *instance, &world, call.0);
    assert_eq!(ruling, plugins::fault::on_proposal());
    assert!(
        only_fault(&loaded)
            .message
            .contains("no answer within 500 ms")
    );
}

#[test]
fn an_answer_before_the_question_was_read_is_none() {
    let hasty = format!(
        "{PRELUDE}\nsay(HELLO)\nsys.stdin.readline()\ntime.sleep(0.2)\nsay({{'id': 1, **{ALLOW}}})\ntime.sleep(1000)\n"
    );
    let loaded = policy(&hasty);
    let mut world = world();
    let long = Value::text(&"long ".repeat(1 << 20));
    let label = world.label_of(&[]);
    let call = world.add_call(plugins::ids::ToolId(0), vec![given(1, long, label)]);
    let mut instance = (loaded.make)();
    assert_eq!(
        propose(&mut *instance, &world, call.0).reason.rule,
        PLUGIN_FAULT
    );
    let message = only_fault(&loaded).message;
    assert!(
        message.contains("before it was asked") || message.contains("nobody asked for"),
        "{message}"
    );
}

#[test]
fn memory_is_bounded() {
    let bomb = format!("hoard = bytearray(1 << 30)\nsay({{'id': m['id'], **{ALLOW}}})");
    let fault = refused(&answering(&bomb), "memory_mib: 256", "exit status 1");
    assert!(fault.standard_error.contains("MemoryError"), "{fault:?}");
}

#[test]
fn an_allow_after_a_fault_does_not_count() {
    let world = world();
    let script =
        answering("say({'id': m['id'], 'verdict': 'permit' if m['id'] == 2 else 'allow'})");
    let loaded = policy(&script);
    let mut instance = (loaded.make)();
    assert_eq!(
        rules(&mut *instance),
        ["default_allow", PLUGIN_FAULT, PLUGIN_FAULT]
    );
    // The next instance is served again, by another process.
    let mut next = (loaded.make)();
    assert_eq!(propose(&mut *next, &world, 0).reason.rule, "default_allow");
    // The saved state says that the instance is broken, and an earlier one that it is not.
    let mut saved = Vec::new();
    instance.save(&mut saved);
    next.restore(&saved, 1).unwrap();
    assert_eq!(rules(&mut *next), [PLUGIN_FAULT; 3]);
    assert!(!only_fault(&loaded).message.is_empty());
}
