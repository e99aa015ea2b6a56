//! Policies that keep to the protocol, in several languages, decide as a native one does.

use plugins::conformance::check_policy;
use plugins::conformance::generate::random_world;
use plugins::facts::{CallFacts, Counts};
use plugins::policy::{DenialReason, Hooks, Proposal, Reason, View};
use plugins::state::SavedState;

use super::*;

/// `recipient_guard` as a native policy.
struct Twin;

impl SavedState for Twin {}

impl Policy for Twin {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let facts = CallFacts::of(view, &proposal);
        let ruling = |verdict, rule, denial| Ruling::new(verdict, Reason::new(rule, denial));
        let is_tainted = |argument: &plugins::facts::ArgumentFacts<'_>| {
            argument.role == Role::Recipient && argument.label.tainted
        };
        if !facts.high_risk {
            Ruling::<ProposalVerdict>::neutral()
        } else if facts.arguments.iter().any(is_tainted) {
            let denial = DenialReason::TaintedPrivilegeJump;
            ruling(ProposalVerdict::Block, "tainted_recipient", denial)
        } else if facts.ledger_entry.is_none() {
            let denial = DenialReason::ConfirmationRequired;
            ruling(ProposalVerdict::Confirm, "unlisted_action", denial)
        } else if Counts::of_high_risk(view.prefix, view.briefing).committed >= 2 {
            let denial = DenialReason::OutsideUserGoal;
            ruling(ProposalVerdict::Block, "too_many_commits", denial)
        } else {
            let denial = DenialReason::PluginFault;
            ruling(ProposalVerdict::Allow, "allow_listed_action", denial)
        }
    }
}

/// Asks both about every call of some scenarios; returns the rules that occurred.
fn compare(loaded: &LoadedPolicy, seeds: u64) -> Vec<String> {
    let mut occurred = Vec::new();
    for seed in 0..seeds {
        let world = random_world(seed);
        let mut outside = (loaded.make)();
        for call in &world.trace.calls {
            let told = propose(&mut *outside, &world, call.id.0);
            assert_eq!(told, propose(&mut Twin, &world, call.id.0), "seed {seed}");
            occurred.push(told.reason.rule.into_owned());
        }
    }
    no_faults(loaded);
    occurred.sort();
    occurred.dedup();
    occurred
}

const RULES: [&str; 5] = [
    "allow_listed_action",
    "default_allow",
    "tainted_recipient",
    "too_many_commits",
    "unlisted_action",
];

/// The shipped policy, with time to answer on a busy machine.
fn recipient_guard() -> LoadedPolicy {
    let path = root().join("policies/recipient_guard/recipient_guard.py");
    scripted(&fs::read_to_string(path).unwrap(), "").load()
}

#[test]
fn the_guard_in_python_decides_as_its_native_twin() {
    assert_eq!(compare(&recipient_guard(), 300), RULES);
}

#[test]
fn the_guard_in_python_keeps_the_laws_of_policies() {
    let loaded = recipient_guard();
    assert_eq!(check_policy(&|| (loaded.make)(), 24), []);
    no_faults(&loaded);
}

#[test]
fn a_python_file_is_loaded_as_it_is() {
    let path = root().join("policies/recipient_guard/recipient_guard.py");
    let loaded = load(&path).unwrap();
    assert_eq!((loaded.kind, loaded.version), ("process", 1));
    assert!(loaded.summary.starts_with("Blocks tainted recipients"));
    assert_eq!((loaded.make)().hooks(), Hooks::PROPOSAL);
}

/// The same policy in the shell, which is no Python and reads JSON by pattern.
#[test]
fn a_shell_script_can_be_a_policy() {
    let loaded = load(&root().join("examples/plugins/block_outbound.sh")).unwrap();
    let mut instance = (loaded.make)();
    assert_eq!(rules(&mut *instance), ["no_outbound"; 3]);
    drop(instance);
    no_faults(&loaded);
}

/// A whole policy in another language, if its interpreter is there.
#[test]
fn the_guard_in_javascript_decides_as_its_native_twin() {
    let loaded = match load(&root().join("examples/plugins/recipient_guard.process.ron")) {
        Ok(loaded) => loaded,
        Err(mistakes) => {
            assert!(
                mistakes[0].message.contains("cannot be started"),
                "{mistakes:?}"
            );
            return;
        }
    };
    assert_eq!(compare(&loaded, 100), RULES);
}

/// Counts its questions in the state that it returns, and nowhere else.
const STATEFUL: &str = "
HELLO['state'] = True
HELLO['hooks'] = ['proposal', 'observation', 'recovery', 'session']
count = 0
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'reset' in m:
        count = m['state']['count'] if m['state'] else 0
    if 'id' in m:
        count += 1
        say({'id': m['id'], 'state': {'count': count, 'exact': 0.1 + 0.2, 'large': 2**70},
             'verdict': 'allow' if m['ask'] == 'proposal' else 'pass',
             'rule': 'question_%d' % count})
";

#[test]
fn a_state_comes_back_when_the_engine_goes_back() {
    let script = format!("{PRELUDE}{STATEFUL}");
    let loaded = policy(&script);
    assert_eq!(check_policy(&|| (loaded.make)(), 8), []);
    let world = world();
    let mut instance = (loaded.make)();
    assert_eq!(propose(&mut *instance, &world, 0).reason.rule, "question_1");
    let mut saved = Vec::new();
    instance.save(&mut saved);
    assert_eq!(propose(&mut *instance, &world, 1).reason.rule, "question_2");
    instance.restore(&saved, instance.version()).unwrap();
    assert_eq!(propose(&mut *instance, &world, 1).reason.rule, "question_2");
    let text = String::from_utf8_lossy(&saved).into_owned();
    assert!(text.contains("0.30000000000000004") && text.contains("1180591620717411303424"));
    no_faults(&loaded);
}

#[test]
fn a_state_that_is_left_out_is_a_fault() {
    let script = answering("say({'id': m['id'], 'verdict': 'allow'})")
        .replace("def say", "HELLO['state'] = True\ndef say");
    let loaded = policy(&script);
    let mut instance = (loaded.make)();
    assert_eq!(rules(&mut *instance), [PLUGIN_FAULT; 3]);
    assert!(only_fault(&loaded).message.contains("without `state`"));
}

#[test]
fn the_state_of_another_program_is_refused() {
    let (one, other) = (policy(&replying("{'verdict': 'allow'}")), recipient_guard());
    let mut saved = Vec::new();
    (one.make)().save(&mut saved);
    let mut instance = (other.make)();
    assert!(instance.restore(&saved, instance.version()).is_err());
    assert!((one.make)().restore(&saved, 1).is_ok());
}

/// A mirror is told each event once, and all of them again after a step back.
#[test]
fn events_are_told_once_and_again_after_going_back() {
    let script = format!(
        "{PRELUDE}
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'reset' in m:
        seen = []
    if 'event' in m:
        seen.append(m['event']['event'])
    if 'id' in m:
        assert seen == list(range(len(seen)))
        say({{'id': m['id'], 'verdict': 'allow', 'rule': 'seen_%d' % len(seen)}})
"
    );
    let loaded = policy(&script);
    let world = world();
    let mut instance = (loaded.make)();
    let mut saved = Vec::new();
    instance.save(&mut saved);
    assert_eq!(rules(&mut *instance), ["seen_1", "seen_2", "seen_3"]);
    // Without a restore, but with a shorter prefix.
    assert_eq!(rules(&mut *instance), ["seen_1", "seen_2", "seen_3"]);
    instance.restore(&saved, 1).unwrap();
    assert_eq!(propose(&mut *instance, &world, 2).reason.rule, "seen_3");
    drop(instance);
    no_faults(&loaded);
}

/// Whatever goes wrong, it goes wrong the same way each time, before and after going back.
#[test]
fn a_policy_that_fails_keeps_the_laws_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let script = "while read -r line; do
    case $line in
    '{\"hello\":'*) echo '{\"protocol\":1,\"name\":\"a\",\"version\":1,\"hooks\":[\"proposal\",\"prompt\"]}' ;;
    '{\"id\":'*'\"risk\":\"write\"'*) exit 1 ;;
    '{\"id\":'*'\"call\":2,'*) exit 2 ;;
    '{\"id\":'*)
        id=${line#*:}
        case $line in
        *'\"ask\":\"prompt\"'*) echo \"{\\\"id\\\":${id%%,*},\\\"verdict\\\":\\\"pass\\\"}\" ;;
        *) echo \"{\\\"id\\\":${id%%,*},\\\"verdict\\\":\\\"allow\\\",\\\"rule\\\":\\\"fine\\\"}\" ;;
        esac ;;
    esac
done
";
    fs::write(folder.path().join("a.sh"), script).unwrap();
    let description = folder.path().join("a.process.ron");
    let text = "Process(command: [\"sh\", \"a.sh\"], files: [\"a.sh\"], answer_ms: 60000)";
    fs::write(&description, text).unwrap();
    let loaded = load(&description).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 4), []);
    let mut instance = (loaded.make)();
    assert_eq!(rules(&mut *instance), ["fine", "fine", PLUGIN_FAULT]);
    assert!(loaded.faults.as_ref().unwrap().first().len() == 16);
}
