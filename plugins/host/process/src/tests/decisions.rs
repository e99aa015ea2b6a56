//! Answers that are recorded and played.

use plugins::conformance::check_policy;
use plugins::conformance::generate::random_world;
use plugins::loaded::Mistake;
use plugins::policy::Hook;

use super::*;
use crate::{Decisions, load_with, probe};

/// Answers by chance, and sometimes by no answer.
const CHANCE: &str = "
r = random.randrange(9)
answer = {'id': m['id'], 'verdict': 'allow', 'rule': 'r%d_%d' % (r, random.randrange(10**6))}
if r == 0: answer['verdict'] = 'perhaps'
say(answer)";

/// A script that dies at once when the file `gone` is beside its description.
fn mortal(script: &str) -> Scripted {
    let scripted = scripted("", "");
    let mark = scripted.folder.path().join("gone");
    let script = format!("import os, sys\nif os.path.exists({mark:?}): sys.exit(9)\n{script}");
    fs::write(scripted.folder.path().join("script.py"), script).unwrap();
    scripted
}

impl Scripted {
    fn recording(&self) -> (LoadedPolicy, Decisions) {
        let decisions = Decisions::recording();
        let loaded = load_with(&self.description, Some(decisions.clone())).unwrap();
        (loaded, decisions)
    }

    fn playing(&self, text: &str) -> Result<LoadedPolicy, Vec<Mistake>> {
        load_with(&self.description, Some(Decisions::read(text).unwrap()))
    }

    /// From now on its process dies at once.
    fn end(&self) {
        fs::write(self.folder.path().join("gone"), "").unwrap();
        let refused = load(&self.description).unwrap_err();
        assert!(refused[0].message.contains("exit status 9"), "{refused:?}");
    }
}

/// The rulings on every call of some scenarios, an instance for each scenario.
fn rulings(loaded: &LoadedPolicy, seeds: std::ops::Range<u64>) -> Vec<Ruling<ProposalVerdict>> {
    let mut rulings = Vec::new();
    for seed in seeds {
        let world = random_world(seed);
        let mut instance = (loaded.make)();
        for call in &world.trace.calls {
            rulings.push(propose(&mut *instance, &world, call.id.0));
        }
    }
    rulings
}

fn count(loaded: &LoadedPolicy) -> u64 {
    loaded.faults.as_ref().unwrap().count()
}

/// A line of `text` without its line break, and where it is.
fn line(text: &str, number: usize) -> (&str, usize) {
    let start: usize = text.split_inclusive('\n').take(number).map(str::len).sum();
    (text[start..].lines().next().unwrap_or(""), start)
}

#[test]
fn answers_by_chance_are_played_as_recorded_without_the_process() {
    let scripted = mortal(&answering(CHANCE));
    let (loaded, decisions) = scripted.recording();
    let first = rulings(&loaded, 0..40);
    let text = decisions.text();
    decisions.check_whole().unwrap();

    scripted.end();
    let played = scripted.playing(&text).unwrap();
    assert_eq!(rulings(&played, 0..40), first);
    // Each fault ended another rollout. Those of a process that served an earlier rollout too, in the
    // place of which a new one was asked, decided nothing.
    let faults = text.matches("\"fault\":").count() as u64;
    assert!(faults > 3, "chance gives some faults");
    assert!(count(&played) == faults && count(&loaded) >= faults);
    for fault in played.faults.as_ref().unwrap().first() {
        assert!(fault.message.contains("`perhaps` is none of"), "{fault:?}");
        assert_eq!(fault.hook, Some(Hook::Proposal));
        assert_eq!(fault.standard_error, "");
    }
    assert_eq!(played.content, loaded.content);
    assert_eq!((played.kind, &played.summary), ("process", &loaded.summary));
    assert_eq!((played.make)().hooks(), (loaded.make)().hooks());
    // What is played and written again is the same recording.
    assert_eq!(Decisions::read(&text).unwrap().text(), text);
    // It is by chance.
    fs::remove_file(scripted.folder.path().join("gone")).unwrap();
    assert_ne!(rulings(&scripted.load(), 0..40), first);
}

/// All laws hold, because the key of an answer is everything that two asked instances have in common.
#[test]
fn a_policy_by_chance_keeps_the_laws_while_it_is_recorded() {
    let hooks = "HELLO['hooks'] = ['proposal', 'commit', 'session', 'prompt', 'observation', 'recovery']\ndef say";
    let chance = "
verdict = 'allow' if m['ask'] in ('proposal', 'commit') else 'pass'
say({'id': m['id'], 'verdict': verdict, 'rule': 'r%d' % random.randrange(10**9)})";
    let script = answering(chance).replace("def say", hooks);
    let scripted = scripted(&script, "");
    assert_ne!(probe(&scripted.load(), 4), []);
    let (loaded, decisions) = scripted.recording();
    assert_eq!(check_policy(&|| (loaded.make)(), 12), []);
    let played = scripted.playing(&decisions.text()).unwrap();
    assert_eq!(check_policy(&|| (played.make)(), 12), []);
    no_faults(&loaded);
    no_faults(&played);
}

/// The state is a part of the key, and of the answer.
#[test]
fn a_policy_by_chance_with_state_keeps_the_laws_while_it_is_recorded() {
    let chance = "
say({'id': m['id'], 'verdict': 'allow', 'rule': ('r_%s' % state).lower(),
     'state': random.randrange(2**80)})";
    let script = answering(chance)
        .replace("def say", "HELLO['state'] = True\nstate = None\ndef say")
        .replace(
            "if 'id' in m:",
            "if 'reset' in m: state = m['state']\n    if 'id' in m:",
        );
    let scripted = scripted(&script, "");
    let (loaded, decisions) = scripted.recording();
    assert_eq!(check_policy(&|| (loaded.make)(), 12), []);
    let world = world();
    let mut instance = (loaded.make)();
    propose(&mut *instance, &world, 0);
    let mut saved = Vec::new();
    instance.save(&mut saved);
    let second = propose(&mut *instance, &world, 1);
    instance.restore(&saved, 1).unwrap();
    // Answered from the recording; then the process is asked again, and is told the state first.
    assert_eq!(propose(&mut *instance, &world, 1), second);
    let mut after = Vec::new();
    instance.save(&mut after);
    propose(&mut *instance, &world, 2);
    no_faults(&loaded);
    let played = scripted.playing(&decisions.text()).unwrap();
    let mut again = (played.make)();
    propose(&mut *again, &world, 0);
    propose(&mut *again, &world, 1);
    let mut played_after = Vec::new();
    again.save(&mut played_after);
    assert_eq!(played_after, after);
    no_faults(&played);
}

/// What is recorded is answered as recorded, and the process is told the recorded state before it is
/// asked the next.
#[test]
fn a_process_is_told_the_state_that_was_recorded() {
    let script = format!(
        "{PRELUDE}
HELLO['state'] = True
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m: say(HELLO)
    if 'reset' in m: state = m['state'] or []
    if 'id' in m:
        state = state + [m['call']]
        say({{'id': m['id'], 'verdict': 'allow', 'state': state,
             'rule': 'asked_' + '_'.join(map(str, state))}})
"
    );
    let scripted = scripted(&script, "");
    let (loaded, _) = scripted.recording();
    let world = world();
    let (mut one, mut other) = ((loaded.make)(), (loaded.make)());
    assert_eq!(propose(&mut *one, &world, 0).reason.rule, "asked_0");
    assert_eq!(propose(&mut *one, &world, 1).reason.rule, "asked_0_1");
    // Two answers from the recording, and one from a process that was asked none of them.
    assert_eq!(rules(&mut *other), ["asked_0", "asked_0_1", "asked_0_1_2"]);
    // And the other way round: a process that was asked before.
    assert_eq!(propose(&mut *one, &world, 2).reason.rule, "asked_0_1_2");
    assert_eq!(propose(&mut *one, &world, 2).reason.rule, "asked_0_1_2_2");
    no_faults(&loaded);
}

#[test]
fn the_hook_and_the_facts_are_a_part_of_the_key() {
    let script = replying("{'verdict': 'allow', 'rule': '%s_%d' % (m['ask'], m['call'])}").replace(
        "def say",
        "HELLO['hooks'] = ['proposal', 'commit']\ndef say",
    );
    let (loaded, decisions) = scripted(&script, "").recording();
    let world = world();
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    let view = &mut world.view_of(world.trace.prefix(), &mut draws);
    let mut instance = (loaded.make)();
    for call in [0, 1, 0, 1] {
        let proposal = world.proposal(CallId(call));
        let ruling = instance.on_proposal(view, proposal);
        assert_eq!(ruling.reason.rule, format!("proposal_{call}"));
        let ruling = instance.on_commit(view, proposal);
        assert_eq!(ruling.reason.rule, format!("commit_{call}"));
    }
    assert_eq!(decisions.count(), 4);
}

/// After going back the rollout can go on in another way, to a question that looks the same.
#[test]
fn what_happened_before_going_back_is_no_part_of_the_key() {
    let script = format!(
        "{PRELUDE}
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m: say(HELLO)
    if 'event' in m and m['event']['event'] == 0: tick = m['event']['tick']
    if 'id' in m: say({{'id': m['id'], 'verdict': 'allow', 'rule': 'tick_%d' % tick}})
"
    );
    let (one, mut other) = (world(), world());
    other.trace.events[0].tick += 7;
    let scripted = scripted(&script, "");
    let (loaded, decisions) = scripted.recording();
    let run = |loaded: &LoadedPolicy| {
        let mut instance = (loaded.make)();
        let mut saved = Vec::new();
        instance.save(&mut saved);
        let first = propose(&mut *instance, &one, 1).reason.rule;
        instance.restore(&saved, 1).unwrap();
        let second = propose(&mut *instance, &other, 1).reason.rule;
        assert_ne!(first, second);
        (first, second)
    };
    let recorded = run(&loaded);
    assert_eq!(decisions.count(), 2);
    assert_eq!(run(&scripted.playing(&decisions.text()).unwrap()), recorded);
}

#[test]
fn the_rollout_is_a_part_of_the_key() {
    let scripted = scripted(
        &answering(CHANCE).replace("randrange(9)", "randrange(1, 9)"),
        "",
    );
    let (loaded, decisions) = scripted.recording();
    let world = world();
    let ask = |key: RolloutKey| {
        let mut draws = Draws::new(key);
        let view = &mut world.view_of(world.prefix_of(1), &mut draws);
        (loaded.make)().on_proposal(view, world.proposal(CallId(0)))
    };
    let key = RolloutKey::new(1, "test".into(), 1);
    let first = ask(key.clone());
    assert_eq!(ask(key.clone()), first);
    let others = [
        RolloutKey::new(2, "test".into(), 1),
        RolloutKey::new(1, "tesu".into(), 1),
        RolloutKey::new(1, "test".into(), 2),
        RolloutKey {
            stratum: Some("a:0/2:0/2".parse().unwrap()),
            ..key.clone()
        },
        RolloutKey {
            stratum: Some("a:1/2:0/2".parse().unwrap()),
            ..key
        },
    ];
    for (asked, other) in (2..).zip(others) {
        ask(other);
        assert_eq!(decisions.count(), asked);
    }
}

#[test]
fn a_question_that_nobody_asked_is_a_fault_when_played() {
    let scripted = scripted(&replying("{'verdict': 'allow', 'rule': 'fine'}"), "");
    let (loaded, decisions) = scripted.recording();
    let world = world();
    let mut instance = (loaded.make)();
    propose(&mut *instance, &world, 0);
    let played = scripted.playing(&decisions.text()).unwrap();
    let mut instance = (played.make)();
    assert_eq!(rules(&mut *instance), ["fine", PLUGIN_FAULT, PLUGIN_FAULT]);
    assert!(only_fault(&played).message.contains("not in the recording"));
}

#[test]
fn two_threads_record_the_text_of_one() {
    let guard = root().join("policies/recipient_guard/recipient_guard.py");
    let scripted = scripted(&fs::read_to_string(guard).unwrap(), "");
    let (loaded, one) = scripted.recording();
    rulings(&loaded, 0..60);
    let (loaded, two) = scripted.recording();
    std::thread::scope(|scope| {
        scope.spawn(|| rulings(&loaded, 0..40));
        scope.spawn(|| rulings(&loaded, 20..60));
    });
    no_faults(&loaded);
    assert_eq!(one.text(), two.text());
    assert!(one.count() > 300, "{}", one.count());
}

/// Whichever thread asks first, both go on with one answer.
#[test]
fn two_threads_that_ask_one_question_get_one_answer() {
    let scripted = scripted(&answering(CHANCE), "");
    let (loaded, decisions) = scripted.recording();
    let both = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| rulings(&loaded, 0..30)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(both[0], both[1]);
    let played = scripted.playing(&decisions.text()).unwrap();
    assert_eq!(rulings(&played, 0..30), both[0]);
}

#[test]
fn a_changed_file_is_refused() {
    let scripted = scripted(&answering(CHANCE), "");
    let (_, decisions) = scripted.recording();
    let path = scripted.folder.path().join("script.py");
    let script = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{script}# more\n")).unwrap();
    let refused = scripted.playing(&decisions.text()).unwrap_err().remove(0);
    assert!(refused.message.contains("the recording is of the policy"));
    assert!(refused.help.unwrap().contains("put the files back"));
    // Nor do two policies share a recording.
    let refused = load_with(&scripted.description, Some(decisions)).unwrap_err();
    assert!(
        refused[0]
            .message
            .contains("the recording is of the policy")
    );
    // And the files are needed, because their content is what the policy is known by.
    fs::write(&path, &script).unwrap();
    let (_, decisions) = scripted.recording();
    assert!(scripted.playing(&decisions.text()).is_ok());
    fs::remove_file(&path).unwrap();
    assert!(scripted.playing(&decisions.text()).is_err());
}

#[test]
#[expect(clippy::too_many_lines, reason = "one of each, in one table")]
fn a_damaged_or_foreign_recording_is_refused_with_its_line_and_what_to_do() {
    let scripted = scripted(&replying("{'verdict': 'allow', 'rule': 'fine'}"), "");
    let (loaded, decisions) = scripted.recording();
    rules(&mut *(loaded.make)());
    let text = decisions.text();
    assert_eq!(text.lines().count(), 4);
    let (second, _) = line(&text, 2);
    let key = &second[8..40];
    for (damaged, number, message) in [
        (String::new(), 0, "not the header of a recording"),
        ("{\"trace\":1}\n".into(), 0, "not the header of a recording"),
        (second.into(), 0, "not the header of a recording"),
        (
            text.replace("\"decisions\":1", "\"decisions\":2"),
            0,
            "format 2, and this program reads 1",
        ),
        (
            text.replace("\"state\":false", "\"state\":7"),
            0,
            "no hello",
        ),
        (
            text.replace("\"version\":1", "\"version\":2"),
            0,
            "was changed after",
        ),
        (
            text.replace("policy_content\":\"", "policy_content\":\"x"),
            0,
            "is no hash",
        ),
        (text.replacen("fine", "fire", 1), 0, "was changed after"),
        (
            text.replace(&format!("{second}\n"), ""),
            0,
            "says 3 answers, and there are 2",
        ),
        (
            text.replace(second, &second[..50]),
            2,
            "no line of a recording",
        ),
        (
            text.replace(second, &second.replace("allow", "permit me\u{7}")),
            2,
            "no line of a recording",
        ),
        (
            text.replace(second, &second.replace("verdict", "word")),
            2,
            "unknown field `word`",
        ),
        (
            text.replace(second, &second.replace("{\"rule", "{\"id\":0,\"rule")),
            2,
            "duplicate field `id`",
        ),
        (
            text.replace(second, &second.replace("\"proposal\"", "\"proposed\"")),
            2,
            "`proposed` is none of",
        ),
        (text.replace(key, "0"), 2, "`key` is no hash"),
        (text.replace(key, &"0".repeat(32)), 2, "do not ascend"),
        (
            text.replace("{\"key", "\n{\"key"),
            1,
            "no line of a recording",
        ),
        (
            text.replace(second, &format!("{second}\n{second}")),
            3,
            "do not ascend",
        ),
        (
            text.replace(second, &second.replace("answer", "fault")),
            2,
            "no line of a recording",
        ),
        (
            text.replace(
                second,
                &format!("{{\"key\":\"{key}\",\"hook\":\"proposal\"}}"),
            ),
            2,
            "either",
        ),
    ] {
        let refused = Decisions::read(&damaged).unwrap_err();
        assert!(refused.message.contains(message), "{message}: {refused:?}");
        let (line, start) = line(&damaged, number);
        assert_eq!(refused.place, Some(start..start + line.len()), "{message}");
        assert!(refused.help.unwrap().contains("record"), "{message}");
    }
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(Decisions::read(&text[..end]).is_err(), "cut at {end}");
    }
    assert_eq!(Decisions::read(&text).unwrap().count(), 3);
}

/// What does not fit is refused while it is recorded as it will be when it is played.
#[test]
fn a_full_recording_is_told_and_plays_as_it_was_recorded() {
    let scripted = scripted(&replying("{'verdict': 'allow', 'rule': 'fine'}"), "");
    let decisions = Decisions::recording_at_most(3_000);
    let loaded = load_with(&scripted.description, Some(decisions.clone())).unwrap();
    let first = rulings(&loaded, 0..10);
    let refused = decisions.check_whole().unwrap_err();
    assert!(refused.message.contains("longer than 3000 bytes"));
    assert!(refused.help.is_some());
    let text = decisions.text();
    assert!((2_800..3_400).contains(&text.len()), "{}", text.len());
    assert!(first.iter().any(|ruling| ruling.reason.rule == "fine"));
    assert_eq!(first.last().unwrap().reason.rule, PLUGIN_FAULT);
    assert_eq!(rulings(&loaded, 0..10), first);
    assert_eq!(rulings(&scripted.playing(&text).unwrap(), 0..10), first);
    let fault = loaded.faults.unwrap().first().remove(0);
    assert!(fault.message.contains("the recording is full"), "{fault:?}");
}

#[test]
fn a_recording_that_nobody_loaded_is_empty() {
    let decisions = Decisions::recording();
    assert_eq!((decisions.text().as_str(), decisions.content()), ("", None));
    let loaded = policy(&replying("{'verdict': 'allow'}"));
    rules(&mut *(loaded.make)());
    no_faults(&loaded);
}
