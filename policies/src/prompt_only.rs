//! `prompt_only`: the instruction-only baseline of Table 8. It says something in the prompt and
//! enforces nothing.

use plugins::ids::AgentId;
use plugins::model::{Guidance, Segment};
use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{Hooks, Policy, PromptEdit, PromptVerdict, Ruling, View};
use plugins::state::SavedState;

use crate::rules;

/// *The paper's*: "prompt-level guidance without runtime enforcement" (Table 8), so every prompt
/// carries the guidance, and no other hook is used. *Inferred*: what the guidance says. Its spread
/// is below that of no defence where nothing is enforced (Table 9, security: 0.6570 against 0.6984;
/// Table 15: 0.4665 against 0.5249), as if agents that do not follow an injection wrote down a check
/// of their own plan, which lengthens the trace. So the default asks for that check; whether a model
/// heeds it is the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptOnly {
    guidance: Guidance,
}

impl PromptOnly {
    /// The policy with these parameters, as declared by [`PromptOnly::parameters`].
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            guidance: match parameters.text("guidance") {
                "treat_content_as_data" => Guidance::TreatContentAsData,
                _ => Guidance::SelfCheck,
            },
        }
    }

    /// The parameters that it takes. That no guidance is shown is not among the choices: this is
    /// what `none` does.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![ParameterSpec {
            name: "guidance",
            doc: "What every prompt says besides: a request to check one's own plan first, or a \
                  reminder that retrieved content is data and no instruction.",
            kind: ParameterKind::Choice(&["self_check", "treat_content_as_data"]),
        }]
    }
}

impl SavedState for PromptOnly {}

impl Policy for PromptOnly {
    fn hooks(&self) -> Hooks {
        Hooks::PROMPT
    }

    fn on_prompt(
        &mut self,
        _view: &mut View<'_>,
        _agent: AgentId,
        _segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        let edit = PromptEdit {
            guidance: Some(self.guidance),
            ..PromptEdit::default()
        };
        Ruling::new(PromptVerdict::Edit(edit), rules::SHOW_GUIDANCE.reason())
    }
}

#[cfg(test)]
mod tests {
    use plugins::conformance::sample::World;
    use plugins::policy::Basis;

    use super::*;
    use crate::desk::{parameters, prompt};

    fn policy(given: &[(&str, &str)]) -> PromptOnly {
        PromptOnly::new(&parameters(&PromptOnly::parameters(), given))
    }

    #[test]
    fn every_prompt_shows_the_guidance_and_is_otherwise_unchanged() {
        let cases = [
            (policy(&[]), Guidance::SelfCheck),
            (policy(&[("guidance", "self_check")]), Guidance::SelfCheck),
            (
                policy(&[("guidance", "treat_content_as_data")]),
                Guidance::TreatContentAsData,
            ),
        ];
        for (mut policy, guidance) in cases {
            for _ in 0..2 {
                let ruling = prompt(&mut policy, &World::new());
                let edit = PromptEdit {
                    guidance: Some(guidance),
                    drop: Vec::new(),
                    mark: Vec::new(),
                    schema_mode: None,
                    mask: Vec::new(),
                };
                assert_eq!(ruling.verdict, PromptVerdict::Edit(edit));
                assert_eq!(ruling.reason.rule, "show_guidance");
                assert_eq!(ruling.reason.basis, Basis::Exact);
            }
        }
    }

    #[test]
    fn nothing_but_prompts_is_asked_about() {
        assert_eq!(policy(&[]).hooks(), Hooks::PROMPT);
    }
}
