//! The codes of problems outside a world file: files that cannot be read, and scripts. World files
//! have codes of their own (`worlds::diagnostic`).

/// A kind of problem outside a world file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// A file cannot be read.
    Unreadable,
    /// A file is too large.
    TooLarge,
    /// A file is not text.
    NotText,
    /// A file is not what the command needs.
    WrongFile,
    /// A script is not well formed.
    ScriptSyntax,
    /// A script does not fit its world.
    ScriptNames,
    /// A behaviour profile is not well formed.
    ProfileSyntax,
    /// The targets of a fit are not well formed, or do not fit their profile.
    TargetsSyntax,
    /// A policy in a file is not well formed.
    PolicySyntax,
}

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explanation {
    /// The kind of problem.
    pub(crate) kind: Code,
    /// The code as it is printed.
    pub(crate) id: &'static str,
    /// The problem in a few words.
    pub(crate) title: &'static str,
    /// Why it is one, and what to do.
    pub(crate) text: &'static str,
}

/// Every code, in the order of its number.
pub(crate) const TABLE: [Explanation; 9] = [
    Explanation {
        kind: Code::Unreadable,
        id: "F001",
        title: "the file cannot be read",
        text: "There is no such file, it is a folder or a device, or reading it is not \
                      permitted. Only regular files are read, so that a command cannot hang; \
                      `check` and `parse` also take `-` for standard input.",
    },
    Explanation {
        kind: Code::TooLarge,
        id: "F002",
        title: "the file is too large",
        text: "Every kind of file has a limit, so that no file can fill the memory: 1 MiB \
                      for worlds, scripts, studies and completions, 64 MiB for snapshots and recordings, 256 MiB \
                      for traces, 1 GiB for the rows of a result.",
    },
    Explanation {
        kind: Code::NotText,
        id: "F003",
        title: "the file is not UTF-8 text",
        text: "Every file that is read here, but for snapshots, is text in UTF-8. The place is that of the \
                      first byte that is not.",
    },
    Explanation {
        kind: Code::WrongFile,
        id: "F004",
        title: "the file is not what the command needs",
        text: "The file is not a trace, a snapshot, a recording, a corpus, rows or a manifest as this program \
                      writes them, it was cut or changed since, or it is about another rollout.",
    },
    Explanation {
        kind: Code::ScriptSyntax,
        id: "F005",
        title: "the script is not well formed",
        text: "A script is RON: `Script(agents: {\"name\": [(say: ...), ...]})`. It lies \
                      beside its world and ends in `.script.ron`.",
    },
    Explanation {
        kind: Code::ScriptNames,
        id: "F006",
        title: "the script does not fit its world",
        text: "An agent that the world does not have never speaks: an error. Everything else \
                      may be meant, to see what happens, and is a warning: a tool, agent or \
                      source that the world does not have, a tool that the agent does not hold, \
                      an argument that the tool does not have or that is left out, a hand-off \
                      without a channel, a copy of what the agent can never see, so that the \
                      step is always passed over, and words of a goal that says nothing of them.",
    },
    Explanation {
        kind: Code::ProfileSyntax,
        id: "F007",
        title: "the behaviour profile is not well formed",
        text: "A profile is RON: `Profile(schema: 1, model: \"...\", inclinations: (...), \
                      persistence: (...), broken_off: [...], forms: [...])`. Probabilities are \
                      decimals in quotes, and rules name features from closed lists.",
    },
    Explanation {
        kind: Code::TargetsSyntax,
        id: "F008",
        title: "the targets of a fit are wrong",
        text: "Targets are RON: `Targets(schema: 1, study: \"...\", study_seeds: [...], sweeps: 2, \
                      parameters: [(at: \"...\", cells: [\"...\"], between: (\"0\", \"1\")), ...])`. A parameter \
                      is a probability of the profile that `calibrate` is given, a cell is a published number \
                      of class `target` that the study makes, and one number identifies one parameter. Bounds \
                      are multiples of 0.0001. The study seed that the study is reported under is not fitted on.",
    },
    Explanation {
        kind: Code::PolicySyntax,
        id: "F009",
        title: "the policy in a file is wrong",
        text: "The file of a policy (`rules:`, `cedar:`, `wasm:`, `process:`) is not well formed, cannot be \
                      started, or says what its host does not know. `docs/book` has a page for each host.",
    },
];

impl Code {
    /// The code as it is printed.
    pub(crate) fn id(self) -> &'static str {
        let entry = TABLE.iter().find(|entry| entry.kind == self);
        entry.expect("every code is in the table").id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_table_once() {
        let mut ids: Vec<&str> = TABLE.iter().map(|entry| entry.kind.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), TABLE.len());
    }
}
