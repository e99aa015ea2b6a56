//! Traces as JSON Lines, with all in the header that is needed to run the rollout again.

use containment_bench::Choice;
use engine::Rollout;
use engine::export::jsonl::{self, Header};
use serde_json::{Map, Value, json};
use study::columns::Hash;

use super::options::{Case, Hashes};

/// The trace of a rollout. After the keys that the format requires, the header says what else
/// decides what happens: `user`, `policy_parameters` (those given), `policy_hash`, `profile_hash`.
pub(crate) fn jsonl(
    case: &Case,
    policy: &Choice,
    hashes: Hashes,
    rollout: &Rollout,
    reveal: bool,
) -> String {
    let header = Header {
        scenario: &case.scene.scenario,
        policy: &policy.name,
        model: &case.model.name,
        setting: &case.setting,
    };
    let text = jsonl::write(header, rollout.trace(), rollout.labels(), reveal);
    let (first, events) = text.split_once('\n').unwrap_or((&text, ""));
    let mut header: Map<String, Value> =
        serde_json::from_str(first).expect("the first line of a trace is an object");
    header.insert("user".to_owned(), json!(case.setting.user.name()));
    header.insert("policy_parameters".to_owned(), json!(policy.parameters));
    header.insert(
        "policy_hash".to_owned(),
        json!(Hash(hashes.policy).to_string()),
    );
    header.insert(
        "profile_hash".to_owned(),
        json!(Hash(hashes.model).to_string()),
    );
    format!("{}\n{events}", Value::Object(header))
}
