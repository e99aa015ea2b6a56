use plugins::action::{ActionClass, ParseStatus, Repairs};
use worlds::spec::Stage;

use crate::fixture::{Story, scenario};
use crate::ratio::Ratio;

#[test]
fn without_model_actions_every_rate_is_null() {
    let parsing = Story::new(scenario(Stage::Clean)).measure().parsing;
    assert_eq!(parsing.model_actions, Some(0));
    assert_eq!(parsing.valid_tool_proposal_rate, None);
    assert_eq!(parsing.parse_failure_rate, None);
    assert_eq!(parsing.repair_rate, None);
    assert_eq!(parsing.invalid_tool_rate, None);
}

/// Case 8: six actions in six forms.
#[test]
fn forms_are_counted_by_class_status_and_repair() {
    use ActionClass::{Final, InvalidSchema, InvalidTool, Valid};
    use ParseStatus as S;
    let mut story = Story::new(scenario(Stage::ActiveTainted));
    let none = Repairs::empty();
    let fenced = Repairs::FENCE | Repairs::KEY_ALIAS;
    for (class, status, repairs) in [
        (Valid, S::ValidRepairedJson, fenced),
        (InvalidTool, S::ValidStrictJson, none),
        (InvalidSchema, S::InvalidSchema, none),
        (Valid, S::ValidRepairedJson, Repairs::PREFIX),
        (Valid, S::ValidStrictJson, none),
        (Final, S::ValidStrictJson, none),
    ] {
        story.complete(class, status, repairs);
    }
    let parsing = story.measure().parsing;
    assert_eq!(parsing.model_actions, Some(6));
    assert_eq!(parsing.valid_actions, Some(3));
    assert_eq!(parsing.invalid_tool_actions, Some(1));
    assert_eq!(parsing.invalid_schema_actions, Some(1));
    assert_eq!(parsing.final_actions, Some(1));
    assert_eq!(parsing.delegate_actions, Some(0));
    assert_eq!(parsing.valid_strict_json, Some(3));
    assert_eq!(parsing.valid_repaired_json, Some(2));
    assert_eq!(parsing.invalid_schema, Some(1));
    assert_eq!(parsing.old_action_like_final_answers, Some(3));
    assert_eq!(parsing.repairs, Some(3));
    assert_eq!(parsing.repairs_fence, Some(1));
    assert_eq!(parsing.repairs_key_alias, Some(1));
    assert_eq!(parsing.repairs_prefix, Some(1));
    assert_eq!(parsing.repairs_coercion, Some(0));
    assert_eq!(parsing.valid_tool_proposal_rate, Ratio::of(3, 6));
    assert_eq!(parsing.parse_failure_rate, Ratio::of(1, 6));
    assert_eq!(parsing.repair_rate, Ratio::of(2, 6));
    assert_eq!(parsing.invalid_tool_rate, Ratio::of(1, 6));
}

#[test]
fn rates_are_by_status_or_by_class() {
    let mut story = Story::new(scenario(Stage::Clean));
    let none = Repairs::empty();
    for _ in 0..2 {
        story.complete(ActionClass::InvalidTool, ParseStatus::ValidStrictJson, none);
    }
    for _ in 0..3 {
        story.complete(ActionClass::InvalidSchema, ParseStatus::InvalidSchema, none);
    }
    story.complete(ActionClass::Delegate, ParseStatus::ValidRepairedJson, none);
    let parsing = story.measure().parsing;
    assert_eq!(parsing.invalid_tool_rate, Ratio::of(2, 6));
    assert_eq!(parsing.parse_failure_rate, Ratio::of(3, 6));
    assert_eq!(parsing.repair_rate, Ratio::of(1, 6));
    assert_eq!(parsing.valid_tool_proposal_rate, Ratio::of(0, 6));
    assert_eq!(parsing.delegate_actions, Some(1));
}

#[test]
fn every_repair_has_a_column() {
    let mut story = Story::new(scenario(Stage::Clean));
    story.complete(
        ActionClass::Valid,
        ParseStatus::ValidRepairedJson,
        Repairs::all(),
    );
    let parsing = story.measure().parsing;
    assert_eq!(parsing.repairs, Some(Repairs::all().count()));
}
