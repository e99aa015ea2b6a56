//! Processes are handed from instance to instance, and replaced when they misbehave.

use super::*;

/// Answers with the number of rollouts that this process has begun.
const COUNTING: &str = "
HELLO['version'] = 7
rollouts = 0
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'reset' in m:
        rollouts += 1
    if 'id' in m:
        say({'id': m['id'], 'verdict': 'allow', 'rule': 'rollout_%d' % rollouts})
";

fn first(instance: &mut dyn Policy) -> String {
    propose(instance, &world(), 0).reason.rule.into_owned()
}

#[test]
fn a_process_serves_one_instance_at_a_time_and_then_the_next() {
    let loaded = policy(&format!("{PRELUDE}{COUNTING}"));
    let mut one = (loaded.make)();
    let mut other = (loaded.make)();
    assert_eq!(first(&mut *one), "rollout_1");
    assert_eq!(first(&mut *other), "rollout_1");
    drop(one);
    assert_eq!(first(&mut *(loaded.make)()), "rollout_2");
    assert_eq!(first(&mut *(loaded.make)()), "rollout_3");
    drop(other);
    no_faults(&loaded);
}

#[test]
fn an_instance_that_is_never_asked_takes_no_process() {
    let loaded = policy(&format!("{PRELUDE}{COUNTING}"));
    let instances: Vec<_> = (0..100).map(|_| (loaded.make)()).collect();
    drop(instances);
    assert_eq!(first(&mut *(loaded.make)()), "rollout_1");
}

/// A rollout does not depend on whether the process before it had time to die.
#[test]
fn a_process_that_dies_between_two_rollouts_is_replaced_and_counted() {
    let script = answering(
        "say({'id': m['id'], 'verdict': 'allow', 'rule': 'fine'})\nif m['id'] == 3: os._exit(0)",
    );
    let loaded = policy(&script);
    for _ in 0..20 {
        assert_eq!(rules(&mut *(loaded.make)()), ["fine"; 3]);
    }
    let count = loaded.faults.as_ref().unwrap().count();
    assert!((19..=20).contains(&count), "{count}");
}

/// What a process writes late in one rollout decides nothing in the next.
#[test]
fn a_line_left_over_from_one_rollout_answers_nothing_in_the_next() {
    let script = answering(
        "say({'id': m['id'], 'verdict': 'allow', 'rule': 'fine'})
if m['call'] == 2: time.sleep(0.02); say({'id': m['id'], 'verdict': 'allow', 'rule': 'stray'})",
    );
    let loaded = policy(&script);
    for _ in 0..20 {
        assert_eq!(rules(&mut *(loaded.make)()), ["fine"; 3]);
    }
    let count = loaded.faults.as_ref().unwrap().count();
    assert!((19..=20).contains(&count), "{count}");
}

/// The other way round: one that dies at the first question of a rollout is a fault of it.
#[test]
fn a_new_process_that_dies_too_is_a_fault_of_the_rollout() {
    let script = answering(
        "os._exit(0) if os.path.exists('used') else None\nopen('used', 'w').close()\nsay({'id': m['id'], 'verdict': 'allow', 'rule': 'fine'})",
    );
    let loaded = policy(&script);
    let mut instance = (loaded.make)();
    assert_eq!(rules(&mut *instance), ["fine", PLUGIN_FAULT, PLUGIN_FAULT]);
}

#[test]
fn another_hello_than_at_loading_is_a_fault() {
    let script = format!("{PRELUDE}HELLO['name'] = 'n%d' % os.getpid(){COUNTING}");
    let loaded = policy(&script);
    let mut one = (loaded.make)();
    assert_eq!(first(&mut *one), "rollout_1");
    assert_eq!(first(&mut *(loaded.make)()), PLUGIN_FAULT);
    assert!(only_fault(&loaded).message.contains("another hello"));
}

/// Many rollouts at once on one pool.
#[test]
fn instances_on_many_threads_do_not_meet() {
    let loaded = policy(&replying(
        "{'verdict': 'allow', 'rule': 'call_%d' % m['call']}",
    ));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut instance = (loaded.make)();
                    assert_eq!(rules(&mut *instance), ["call_0", "call_1", "call_2"]);
                }
            });
        }
    });
    no_faults(&loaded);
}
