//! The keys under which models say what an action is and what it is given.

/// Keys of the kind of the action.
pub(super) const ACTION_KEYS: &[&str] = &["action", "Action", "action_type", "type"];
/// Keys of the name of a tool.
pub(super) const TOOL_KEYS: &[&str] = &["tool", "tool_name", "function", "function_name", "name"];
/// Keys of the arguments of a tool.
pub(super) const ARGUMENT_KEYS: &[&str] = &[
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "action_input",
    "Action Input",
    "tool_input",
];

/// Whether a member called `key` would say once more what the action is.
pub(super) fn names_action(key: &str) -> bool {
    TOOL_KEYS.contains(&key) || matches!(key, "action" | "Action" | "action_type")
}
