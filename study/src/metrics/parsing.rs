//! Parsing: what the completions of the model were read as. A prerequisite of every other number.

use plugins::action::{ActionClass, ParseStatus, Repairs};

use crate::columns::columns;
use crate::ratio::Ratio;

columns! {
    /// How completions were read. The five classes partition the model actions.
    #[derive(Default)]
    pub struct Parsing {
        /// Completions parsed to a tool known to the agent.
        valid_tool_proposal_rate: Option<Ratio> {
            over: "model actions: all completions, final answers included",
            stages: All,
            null: "no model action",
            origin: P("Table 23"),
        }
        /// Completions with status `invalid_schema`.
        parse_failure_rate: Option<Ratio> {
            over: "model actions",
            stages: All,
            null: "no model action",
            origin: P("name in Table 22, Appendix I"),
        }
        /// Completions with status `valid_repaired_json`.
        repair_rate: Option<Ratio> {
            over: "model actions",
            stages: All,
            null: "no model action",
            origin: P("name in 6.1, Appendix I"),
        }
        /// Completions that name a tool, or a receiver of a hand-off, unknown to the agent.
        invalid_tool_rate: Option<Ratio> {
            over: "model actions",
            stages: All,
            null: "no model action",
            origin: P("name in 6.1, Appendix I; undeclared receivers O"),
        }
        /// Completions of all classes.
        model_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24: 85 + 0 + 9 + 0 + 2 = 96"),
        }
        /// Completions of class valid: a call of a tool known to the agent.
        valid_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions of class delegate: a hand-off over a declared channel.
        delegate_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: O("fifth class"),
        }
        /// Completions of class final.
        final_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions of class `invalid_tool`.
        invalid_tool_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions of class `invalid_schema`.
        invalid_schema_actions: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions with status `valid_strict_json`.
        valid_strict_json: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions with status `valid_repaired_json`.
        valid_repaired_json: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions with status `invalid_schema`.
        invalid_schema: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Completions that a reader without repairs would have called final answers.
        old_action_like_final_answers: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Table 24"),
        }
        /// Kinds of repair, summed over completions.
        repairs: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions whose JSON stood in a code fence.
        repairs_fence: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions with prose around the JSON.
        repairs_prefix: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions whose action type named the tool itself.
        repairs_action_type_as_tool: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions with aliased keys for action, tool or arguments.
        repairs_key_alias: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions with an aliased argument name.
        repairs_argument_alias: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Completions whose broken JSON was mended.
        repairs_syntax: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: O("repair of our parser"),
        }
        /// Completions with a value converted to the declared type.
        repairs_coercion: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: O("repair of our parser"),
        }
        /// Completions with arguments that the tool lacks.
        repairs_dropped_argument: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: O("repair of our parser"),
        }
        /// Completions with arguments given as a string that holds JSON.
        repairs_stringified_arguments: Option<u32> {
            over: "count",
            stages: All,
            null: "never",
            origin: O("repair of our parser"),
        }
    }
}

/// Completions by class, status and repair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completions {
    /// Valid, delegate, final, invalid tool, invalid schema.
    classes: [u32; 5],
    /// Strict, repaired, invalid.
    statuses: [u32; 3],
    /// By the bit of the repair.
    repairs: [u32; 9],
    strict_finals: u32,
}

impl Completions {
    /// Adds one.
    pub(super) fn add(
        &mut self,
        class: ActionClass,
        status: ParseStatus,
        repairs: Repairs,
        is_strict_final: bool,
    ) {
        self.classes[match class {
            ActionClass::Valid => 0,
            ActionClass::Delegate => 1,
            ActionClass::Final => 2,
            ActionClass::InvalidTool => 3,
            ActionClass::InvalidSchema => 4,
        }] += 1;
        self.statuses[match status {
            ParseStatus::ValidStrictJson => 0,
            ParseStatus::ValidRepairedJson => 1,
            ParseStatus::InvalidSchema => 2,
        }] += 1;
        if !repairs.is_empty() {
            for (bit, count) in self.repairs.iter_mut().enumerate() {
                *count += u32::from(repairs.bits() >> bit & 1);
            }
        }
        self.strict_finals += u32::from(is_strict_final);
    }

    /// Their columns.
    pub(super) fn columns(self) -> Parsing {
        let [valid, delegate, final_answer, invalid_tool, invalid_schema] = self.classes;
        let [strict_status, repaired_status, invalid_status] = self.statuses;
        let [
            fence,
            prefix,
            action_type_as_tool,
            key_alias,
            argument_alias,
            syntax,
            coercion,
            dropped_argument,
            stringified_arguments,
        ] = self.repairs;
        let actions = self.classes.iter().sum();
        Parsing {
            valid_tool_proposal_rate: Ratio::of(valid, actions),
            parse_failure_rate: Ratio::of(invalid_status, actions),
            repair_rate: Ratio::of(repaired_status, actions),
            invalid_tool_rate: Ratio::of(invalid_tool, actions),
            model_actions: Some(actions),
            valid_actions: Some(valid),
            delegate_actions: Some(delegate),
            final_actions: Some(final_answer),
            invalid_tool_actions: Some(invalid_tool),
            invalid_schema_actions: Some(invalid_schema),
            valid_strict_json: Some(strict_status),
            valid_repaired_json: Some(repaired_status),
            invalid_schema: Some(invalid_status),
            old_action_like_final_answers: Some(self.strict_finals),
            repairs: Some(self.repairs.iter().sum()),
            repairs_fence: Some(fence),
            repairs_prefix: Some(prefix),
            repairs_action_type_as_tool: Some(action_type_as_tool),
            repairs_key_alias: Some(key_alias),
            repairs_argument_alias: Some(argument_alias),
            repairs_syntax: Some(syntax),
            repairs_coercion: Some(coercion),
            repairs_dropped_argument: Some(dropped_argument),
            repairs_stringified_arguments: Some(stringified_arguments),
        }
    }
}
