//! What runs is what was hashed, in a folder of its own, and nothing of it is left behind.

use rustix::process::{Pid, test_kill_process};

use super::*;
use crate::{Confinement, confinement};

/// Whether a process is gone, or will be within some seconds. One that is dead but not collected by
/// whoever inherited it is gone.
fn is_gone(id: i32) -> bool {
    (0..500).any(|_| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let is_dead = stat
            .rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('Z'));
        let exists = Pid::from_raw(id).is_some_and(|id| test_kill_process(id).is_ok());
        let gone = !exists || is_dead;
        if !gone {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        gone
    })
}

/// What a script says of itself in its standard error before it fails.
fn confession(script: &str) -> String {
    let loaded = policy(&answering(&format!("{script}\nsys.exit(1)")));
    assert_eq!(rules(&mut *(loaded.make)()), [PLUGIN_FAULT; 3]);
    only_fault(&loaded).standard_error
}

#[test]
fn a_process_sees_its_files_and_no_environment() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("a.sh"),
        "read -r hello
echo '{\"protocol\":1,\"name\":\"a\",\"version\":1,\"hooks\":[\"proposal\"]}'
read -r reset
ls >&2
env >&2
",
    )
    .unwrap();
    let description = folder.path().join("a.process.ron");
    fs::write(
        &description,
        "Process(command: [\"sh\", \"a.sh\"], files: [\"a.sh\"])",
    )
    .unwrap();
    let loaded = load(&description).unwrap();
    assert_eq!(rules(&mut *(loaded.make)()), [PLUGIN_FAULT; 3]);
    let said = only_fault(&loaded).standard_error;
    let (files, variables): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| !line.contains('='));
    assert_eq!(files, ["a.sh"]);
    let mut names: Vec<_> = variables
        .iter()
        .filter_map(|line| line.split('=').next())
        .collect();
    // These are the shell's own.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    let wanted = [
        "LANG",
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_process_leads_a_group_of_its_own() {
    let said = confession("sys.stderr.write(str(os.getpgrp() == os.getpid()))");
    assert_eq!(said, "True");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_has_limits() {
    let said = confession(
        "import resource as r
say_limit = lambda what: r.getrlimit(what)[1]
sys.stderr.write(json.dumps([say_limit(x) for x in (r.RLIMIT_AS, r.RLIMIT_CORE, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CPU)]))",
    );
    assert_eq!(
        said,
        format!("[{}, 0, {}, 256, 86400]", 512 << 20, 16 << 20)
    );
}

/// The file on the disk changes after it was loaded; a second process is of the old one.
#[test]
fn what_was_hashed_is_what_runs() {
    let script = scripted(&replying("{'verdict': 'allow', 'rule': 'old'}"), "");
    let loaded = script.load();
    let path = script.folder.path().join("script.py");
    fs::write(&path, replying("{'verdict': 'allow', 'rule': 'new'}")).unwrap();
    let (mut one, mut other) = ((loaded.make)(), (loaded.make)());
    assert_eq!(rules(&mut *one), ["old"; 3]);
    assert_eq!(rules(&mut *other), ["old"; 3]);
    let changed = script.load();
    assert_ne!(changed.content, loaded.content);
    assert_eq!(rules(&mut *(changed.make)()), ["new"; 3]);
}

/// A process that writes over its own file changes no other process.
#[test]
fn a_process_cannot_change_what_the_next_one_runs() {
    let loaded = policy(&answering(
        "os.path.exists('script.py') and os.remove('script.py')
open('script.py', 'w').write('changed')
say({'id': m['id'], 'verdict': 'allow', 'rule': 'fine'})",
    ));
    let (mut one, mut other) = ((loaded.make)(), (loaded.make)());
    assert_eq!(rules(&mut *one), ["fine"; 3]);
    assert_eq!(rules(&mut *other), ["fine"; 3]);
    no_faults(&loaded);
}

/// Where the kernel has Landlock nothing is written outside the folder. Where it has not, only the
/// rights of the user stand in the way, and the documentation says so.
#[test]
fn writing_outside_its_folder_is_forbidden_where_the_kernel_can() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("written");
    confession(&format!(
        "open('inside', 'w').write('x')
open({path:?}, 'w').write('x')"
    ));
    match confinement() {
        Confinement::Enforced | Confinement::Partial => assert!(!path.exists()),
        Confinement::Missing => assert!(path.exists()),
    }
}

/// The same of connections and signals. The port is one at which nobody listens.
#[test]
fn connections_and_signals_are_forbidden_where_the_kernel_can() {
    let said = confession(
        "import socket
def outcome(act):
    try:
        act()
        return 'done'
    except OSError as error:
        return type(error).__name__
sys.stderr.write(' '.join([
    outcome(lambda: socket.create_connection(('127.0.0.1', 9), 1)),
    outcome(lambda: os.kill(os.getppid(), 0)),
    outcome(lambda: open(os.devnull, 'w').write('x'))]))",
    );
    match confinement() {
        Confinement::Enforced => assert_eq!(said, "PermissionError PermissionError done"),
        Confinement::Partial | Confinement::Missing => assert!(said.ends_with(" done"), "{said}"),
    }
}

/// A process can neither lower the limits of the program that started it, which would end it, nor change
/// the rights of files.
#[test]
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn a_process_cannot_reach_its_parent_or_change_rights() {
    let said = confession(
        "import resource
def outcome(act):
    try:
        act()
        return 'done'
    except OSError as error:
        return type(error).__name__
open('mine', 'w').close()
sys.stderr.write(' '.join([
    outcome(lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)),
    outcome(lambda: os.sched_setaffinity(os.getppid(), {0})),
    outcome(lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)),
    outcome(lambda: os.chmod('mine', 0o777)),
    outcome(lambda: os.utime('mine')),
    outcome(lambda: resource.prlimit(0, resource.RLIMIT_NOFILE))]))",
    );
    let refused = ["PermissionError"; 5].join(" ");
    assert_eq!(said, format!("{refused} done"));
}

#[test]
fn what_a_process_started_ends_with_it() {
    let said = confession(
        "children = [subprocess.Popen(['sleep', '1000']).pid for _ in range(5)]
children.append(os.getpid())
sys.stderr.write(' '.join(map(str, children)))",
    );
    let ids: Vec<i32> = said.split(' ').map(|id| id.parse().unwrap()).collect();
    assert_eq!(ids.len(), 6);
    for id in ids {
        assert!(is_gone(id), "{id}");
    }
}

/// Children that hold the pipes open after their parent has died do not hold us.
#[test]
fn grandchildren_that_keep_the_pipes_do_not_hold_us() {
    let orphan = "subprocess.Popen([sys.executable, '-c', 'while True: print(1)'], stdout=sys.stderr)\nos._exit(0)";
    let loaded = scripted(&answering(orphan), "answer_ms: 1500").load();
    assert_eq!(rules(&mut *(loaded.make)()), [PLUGIN_FAULT; 3]);
    only_fault(&loaded);
}

#[test]
fn processes_and_folders_are_gone_when_the_policy_is() {
    let loaded = policy(&replying(
        "{'verdict': 'allow', 'rule': 'p%d' % os.getpid(), 'evidence': []}",
    ));
    let mut instance = (loaded.make)();
    let rule = rules(&mut *instance).remove(0);
    let id: i32 = rule[1..].parse().unwrap();
    let folder = fs::read_link(format!("/proc/{id}/cwd")).unwrap();
    assert!(folder.join("script.py").exists());
    drop(instance);
    assert!(folder.exists());
    drop(loaded);
    assert!(is_gone(id));
    assert!(!folder.exists());
}
