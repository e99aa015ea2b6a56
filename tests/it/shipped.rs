//! The shipped worlds show what a world file can say.

use std::collections::BTreeSet;
use std::fmt::Debug;

use worlds::spec::{RecoveryOperation, StoreFilter};

use crate::support::shipped;

/// The name of a variant, without what is in it.
fn word(variant: &impl Debug) -> String {
    let text = format!("{variant:?}");
    let end = text.find(|letter: char| !letter.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

fn words<T: Debug>(variants: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    variants.into_iter().map(|variant| word(&variant)).collect()
}

fn expect(what: &str, found: &BTreeSet<String>, expected: &str) {
    for expected in expected.split_whitespace() {
        assert!(
            found.contains(expected),
            "no shipped world has {what} {expected}"
        );
    }
}

#[test]
fn shipped_worlds_use_every_stage_domain_and_channel() {
    let worlds = shipped();
    let scenarios = || worlds.iter().map(|(_, scene)| &scene.scenario);
    expect(
        "stage",
        &words(scenarios().map(|scenario| scenario.stage)),
        "Security MemoryRecovery ActiveTainted Clean",
    );
    expect(
        "domain",
        &words(scenarios().map(|scenario| scenario.domain)),
        "Email Documents CalendarCrm",
    );
    let sources = || scenarios().flat_map(|scenario| &scenario.briefing.sources);
    let untrusted = sources().filter(|source| source.trust == plugins::briefing::Trust::Untrusted);
    expect(
        "untrusted source over",
        &words(untrusted.map(|source| source.channel)),
        "RetrievedDocument ToolResult InterAgentMessage PersistentMemory",
    );
    expect(
        "after sending",
        &words(scenarios().flat_map(|scenario| scenario.channels.iter().map(|it| it.after))),
        "HandOff Continue AwaitReply",
    );
    assert!(scenarios().any(|scenario| scenario.episodes.len() > 1));
    assert!(scenarios().any(|scenario| !scenario.briefing.canaries.is_empty()));
}

#[test]
fn shipped_worlds_use_every_kind_of_tool() {
    let worlds = shipped();
    let tools = || {
        worlds
            .iter()
            .flat_map(|(_, scene)| &scene.scenario.briefing.tools)
    };
    let arguments = || tools().flat_map(|tool| &tool.arguments);
    expect(
        "operation",
        &words(tools().map(|tool| tool.operation)),
        "ReadSource ReturnSource Act MemoryRead MemoryWrite MemoryUpdate MemoryDelete MemoryRestore",
    );
    expect(
        "risk",
        &words(tools().map(|tool| tool.risk)),
        "Low Write Outbound",
    );
    expect(
        "undo",
        &words(tools().map(|tool| &tool.undo)),
        "Irrevocable Inverse",
    );
    expect(
        "argument of role",
        &words(arguments().map(|argument| argument.role)),
        "Recipient Document Visibility MemoryKey Event Contact Content",
    );
    expect(
        "argument passed by",
        &words(arguments().map(|argument| argument.passing)),
        "Value Reference",
    );
    assert!(tools().any(|tool| tool.latency_ticks > 1));
}

#[test]
fn shipped_worlds_use_every_kind_of_memory_and_recovery() {
    let worlds = shipped();
    let stores = || worlds.iter().flat_map(|(_, scene)| &scene.scenario.stores);
    expect(
        "memory",
        &words(stores().map(|store| store.mode)),
        "Session Persistent",
    );
    let filters: Vec<&StoreFilter> = stores().flat_map(|store| &store.filters).collect();
    expect(
        "filter",
        &words(filters),
        "RefuseUntrustedWrites HideUntrustedReads RefuseKeyPrefix",
    );
    let is_automatic = |store: &worlds::spec::StoreSpec| !store.persists.is_empty();
    assert!(stores().any(is_automatic));
    assert!(stores().any(|store| store.records.iter().any(|record| record.backup)));
    let steps = worlds
        .iter()
        .flat_map(|(_, scene)| &scene.scenario.recovery);
    let operations: Vec<&RecoveryOperation> = steps.map(|step| &step.operation).collect();
    expect(
        "recovery step",
        &words(operations),
        "Scrub Restore Quarantine Revoke",
    );
}
