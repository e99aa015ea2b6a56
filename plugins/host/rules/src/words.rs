//! The words of the grammar, and where each of them means something.

use plugins::policy::{DenialReason, Hook};

/// A set of moments at which something can be asked or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places(u16);

impl Places {
    pub(crate) const SESSION: Self = Self::at(Hook::Session);
    pub(crate) const PROMPT: Self = Self::at(Hook::Prompt);
    pub(crate) const PROPOSAL: Self = Self::at(Hook::Proposal);
    pub(crate) const RECOVERY: Self = Self::at(Hook::Recovery);
    /// A call is decided on.
    pub(crate) const CALL: Self = Self::PROPOSAL.and(Self::at(Hook::Commit));
    /// A record is stored or returned.
    pub(crate) const MEMORY: Self = Self::at(Hook::MemoryWrite).and(Self::at(Hook::MemoryRead));
    /// Content enters a context.
    pub(crate) const INFLOW: Self = Self::at(Hook::Observation).and(Self::at(Hook::Message));
    /// A tool is chosen, and nothing happens yet.
    pub(crate) const TOOLS: Self = Self(1 << 9);
    /// A message has been delivered, and what it says is not looked at any more.
    pub(crate) const DELIVERED: Self = Self(1 << 10);
    /// At every hook.
    pub(crate) const HOOKS: Self = Self((1 << 9) - 1);
    pub(crate) const EVERYWHERE: Self = Self((1 << 11) - 1);

    pub(crate) const fn at(hook: Hook) -> Self {
        Self(1 << hook as u16)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Their names, for a message.
    pub(crate) fn names(self) -> String {
        let hooks = HOOKS
            .iter()
            .filter(|(_, hook)| self.contains(Self::at(*hook)));
        let mut names: Vec<String> = hooks.map(|(name, _)| format!("`{name}`")).collect();
        if names.is_empty() {
            names.push("what is counted here".to_owned());
        }
        names.join(", ")
    }
}

/// A word and what is to be known of it before it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<K: 'static> {
    pub(crate) name: &'static str,
    pub(crate) at: K,
    /// How it is written, for a message.
    pub(crate) usage: &'static str,
}

const fn word<K>(name: &'static str, at: K, usage: &'static str) -> Word<K> {
    Word { name, at, usage }
}

const TIME: Places = Places::HOOKS.and(Places::DELIVERED);
const PASSED: Places = Places::INFLOW.and(Places::DELIVERED);
/// Where there is a recorded label and somebody.
const THING: Places = Places::CALL.and(Places::MEMORY).and(PASSED);
const CONTENT: Places = Places::MEMORY.and(Places::INFLOW);
const TOOL: Places = Places::CALL.and(Places::TOOLS);

/// Every predicate.
pub(crate) const PREDICATES: &[Word<Places>] = &[
    word("Always", Places::EVERYWHERE, "Always"),
    word(
        "All",
        Places::EVERYWHERE,
        "All([HighRisk, Not(LedgerMatch)])",
    ),
    word("Any", Places::EVERYWHERE, "Any([Leaking, Expanding])"),
    word("Not", Places::EVERYWHERE, "Not(LedgerMatch)"),
    word("Tool", TOOL, "Tool(\"send_mail\")"),
    word("Risk", TOOL, "Risk(Outbound)"),
    word("HighRisk", TOOL, "HighRisk"),
    word("Reads", TOOL, "Reads"),
    word("Operation", TOOL, "Operation(MemoryWrite)"),
    word("Target", Places::CALL, "Target(Equals(\"plan\"))"),
    word(
        "Argument",
        Places::CALL,
        "Argument(role: Recipient, is: Tainted)",
    ),
    word(
        "EveryArgument",
        Places::CALL,
        "EveryArgument(role: Recipient, is: Given)",
    ),
    word("Choice", Places::CALL, "Choice(Tainted)"),
    word("LedgerMatch", Places::CALL, "LedgerMatch"),
    word("LedgerEntry", Places::CALL, "LedgerEntry(0)"),
    word("LedgerNamesTool", Places::CALL, "LedgerNamesTool"),
    word("LedgerNames", Places::CALL, "LedgerNames(\"to\")"),
    word("Expanding", Places::CALL, "Expanding"),
    word("Leaking", Places::CALL, "Leaking"),
    word("WrongRecipient", Places::CALL, "WrongRecipient"),
    word("Agent", THING.and(Places::PROMPT), "Agent(\"assistant\")"),
    word("Recorded", THING, "Recorded(Tainted)"),
    word(
        "Field",
        CONTENT,
        "Field(name: \"text\", is: Contains(\"http\"))",
    ),
    word("Sender", PASSED, "Sender(\"helper\")"),
    word("NoSender", PASSED, "NoSender"),
    word("Store", Places::MEMORY, "Store(0)"),
    word("Key", Places::MEMORY, "Key(Equals(\"contact\"))"),
    word("Age", Places::MEMORY, "Age(AtLeast(1))"),
    word("Initial", Places::MEMORY, "Initial"),
    word(
        "Count",
        TIME,
        "Count(what: Committed, of: HighRisk, is: AtLeast(2))",
    ),
    word(
        "Happened",
        TIME,
        "Happened(what: Committed, of: Tool(\"read_document\"))",
    ),
    word("Episode", TIME, "Episode(AtLeast(1))"),
    word("Tick", TIME, "Tick(Less(10))"),
    word("UntrustedContext", Places::PROMPT, "UntrustedContext"),
    word("Step", Places::RECOVERY, "Step(Revoke)"),
    word("Revoked", Places::RECOVERY, "Revoked(\"doc:note\")"),
    word("AnyRecord", Places::RECOVERY, "AnyRecord(Tainted)"),
];

/// What a test can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aspects(u8);

impl Aspects {
    pub(crate) const VALUE: Self = Self(1);
    pub(crate) const LABEL: Self = Self(2);
    pub(crate) const CALL: Self = Self(4);
    const ALL: Self = Self(7);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Every test.
pub(crate) const TESTS: &[Word<Aspects>] = &[
    word(
        "All",
        Aspects::ALL,
        "All([Tainted, EndsWith(\"@external.local\")])",
    ),
    word("Any", Aspects::ALL, "Any([Tainted, Absent])"),
    word("Not", Aspects::ALL, "Not(Tainted)"),
    word("Given", Aspects::VALUE, "Given"),
    word("Absent", Aspects::VALUE, "Absent"),
    word("Equals", Aspects::VALUE, "Equals(\"public\")"),
    word("OneOf", Aspects::VALUE, "OneOf([\"public\", \"team\"])"),
    word(
        "Outside",
        Aspects::VALUE,
        "Outside([\"ann@trusted.local\"])",
    ),
    word(
        "Every",
        Aspects::VALUE,
        "Every(EndsWith(\"@trusted.local\"))",
    ),
    word("Contains", Aspects::VALUE, "Contains(\"http\")"),
    word("StartsWith", Aspects::VALUE, "StartsWith(\"doc:\")"),
    word("EndsWith", Aspects::VALUE, "EndsWith(\"@trusted.local\")"),
    word("LongerThan", Aspects::VALUE, "LongerThan(200)"),
    word("Texts", Aspects::VALUE, "Texts(AtLeast(3))"),
    word("Less", Aspects::VALUE, "Less(3)"),
    word("AtMost", Aspects::VALUE, "AtMost(3)"),
    word("AtLeast", Aspects::VALUE, "AtLeast(3)"),
    word("More", Aspects::VALUE, "More(3)"),
    word("Tainted", Aspects::LABEL, "Tainted"),
    word("Influenced", Aspects::LABEL, "Influenced"),
    word("From", Aspects::LABEL, "From(\"doc:note\")"),
    word("InfluencedBy", Aspects::LABEL, "InfluencedBy(\"doc:note\")"),
    word(
        "ReadableBy",
        Aspects::LABEL,
        "ReadableBy(\"ann@trusted.local\")",
    ),
    word("Public", Aspects::LABEL, "Public"),
    word("Expands", Aspects::CALL, "Expands"),
    word("Leaks", Aspects::CALL, "Leaks"),
];

const LETTING: Places = Places::CALL.and(Places::MEMORY);
const PASSING: Places = Places::SESSION
    .and(Places::PROMPT)
    .and(Places::INFLOW)
    .and(Places::RECOVERY);

/// Every verdict.
pub(crate) const VERDICTS: &[Word<Places>] = &[
    word("Allow", LETTING, "Allow"),
    word("Pass", PASSING, "Pass"),
    word("Block", LETTING, "Block"),
    word("Confirm", Places::PROPOSAL.and(Places::MEMORY), "Confirm"),
    word("Hold", Places::CALL, "Hold"),
    word("Abort", Places::PROPOSAL.and(Places::SESSION), "Abort"),
    word("Simulate", Places::PROPOSAL, "Simulate(\"sent\")"),
    word(
        "Rewrite",
        Places::PROPOSAL,
        "Rewrite([(argument: \"visibility\", to: \"private\")])",
    ),
    word("Drop", Places::INFLOW, "Drop"),
    word("Quarantine", CONTENT, "Quarantine"),
    word("Transform", Places::INFLOW, "Transform(\"(removed)\")"),
    word(
        "Relabel",
        CONTENT,
        "Relabel(NarrowReaders([\"ann@trusted.local\"]))",
    ),
    word(
        "MaskTools",
        Places::SESSION,
        "MaskTools(tools: [Risk(Outbound)])",
    ),
    word("Edit", Places::PROMPT, "Edit(guidance: TreatContentAsData)"),
    word("Act", Places::RECOVERY, "Act([Quarantine(Tainted)])"),
];

pub(crate) const HOOKS: [(&str, Hook); 9] = [
    ("Session", Hook::Session),
    ("Prompt", Hook::Prompt),
    ("Observation", Hook::Observation),
    ("Message", Hook::Message),
    ("Proposal", Hook::Proposal),
    ("MemoryWrite", Hook::MemoryWrite),
    ("MemoryRead", Hook::MemoryRead),
    ("Commit", Hook::Commit),
    ("Recovery", Hook::Recovery),
];

/// What an agent can be told. That a plugin failed is not for a rule to say.
pub(crate) const DENIALS: [(&str, DenialReason); 6] = [
    ("TargetNotAuthorized", DenialReason::TargetNotAuthorized),
    ("OutsideUserGoal", DenialReason::OutsideUserGoal),
    ("TaintedPrivilegeJump", DenialReason::TaintedPrivilegeJump),
    ("ConfirmationRequired", DenialReason::ConfirmationRequired),
    ("CheckpointHold", DenialReason::CheckpointHold),
    ("MemoryQuarantined", DenialReason::MemoryQuarantined),
];
