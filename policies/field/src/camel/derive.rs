//! Policies for the tools of a world: the kinds of the repository, chosen by what a tool does.

use plugins::briefing::Briefing;
use plugins::tool::{Operation, Role, ToolSpec};

use super::engine::{Check, Field, ToolPolicy};

/// One policy for each tool with a side effect, in the order of the tools. *Ours* is which kind a
/// tool gets; the kinds are the repository's:
///
/// - to delete something, as `delete_email`: what is deleted is trusted;
/// - to share a document, as `share_file`: who gets it is trusted;
/// - to send something, as `send_email` and `create_calendar_event`: who gets it is trusted or may
///   read it;
/// - to publish, as `post_webpage`: what is published is public;
/// - to store something, as `create_file`: nothing;
/// - anything else, as `cancel_calendar_event`: what it is about is trusted.
#[must_use]
pub fn derived_policies(briefing: &Briefing) -> Vec<ToolPolicy> {
    let tools = briefing.tools.iter().filter(|tool| tool.high_risk());
    tools
        .map(|tool| ToolPolicy {
            pattern: escaped(&tool.name),
            check: check_of(tool),
        })
        .collect()
}

/// A name as a pattern that fits nothing else.
fn escaped(name: &str) -> String {
    let mut pattern = String::new();
    for letter in name.chars() {
        if "*?[".contains(letter) {
            pattern.extend(['[', letter, ']']);
        } else {
            pattern.push(letter);
        }
    }
    pattern
}

fn check_of(tool: &ToolSpec) -> Check {
    let with = |wanted: &dyn Fn(Role) -> bool| -> Vec<Field> {
        let arguments = tool.arguments.iter();
        let arguments = arguments.filter(|argument| wanted(argument.role));
        arguments
            .map(|argument| Field {
                name: argument.name.to_string(),
                required: argument.required,
            })
            .collect()
    };
    let recipients = with(&|role| role == Role::Recipient);
    let data = with(&|role| role == Role::Content);
    let documents = with(&|role| role == Role::Document);
    let authority = with(&Role::is_authority);
    let is_deletion =
        matches!(tool.operation, Operation::MemoryDelete(_)) || &*tool.name == "delete_email";
    match (tool.operation, authority.as_slice()) {
        (_, [first, ..]) if is_deletion => Check::Delete(first.clone()),
        (Operation::MemoryWrite(_) | Operation::MemoryUpdate(_), _) => Check::Nothing,
        _ if !recipients.is_empty() && documents.is_empty() => {
            Check::TrustedOrReadable { recipients, data }
        }
        _ if !recipients.is_empty() && data.is_empty() => Check::Trusted(recipients),
        // A message with a document attached.
        _ if !recipients.is_empty() => Check::TrustedOrReadable {
            recipients,
            data: [data, documents].concat(),
        },
        (_, []) => Check::Public(data),
        _ => Check::Trusted(authority),
    }
}
