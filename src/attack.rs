//! Untrusted slots of a scene, filled by an attacker before a rollout.

use std::sync::Arc;

use plugins::attacker::{Attacker, Feedback, Slot};
use plugins::draws::Draws;
use plugins::ids::SourceId;
use plugins::value::Text;
use xxhash_rust::xxh3::xxh3_128;

use crate::Scene;

/// Bytes of the longest text that an attacker may put into a slot.
pub const MAX_SLOT_BYTES: usize = 1 << 16;

/// What an attacker filled wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttackError {
    /// Another number of texts than slots.
    #[error("the attacker gave {found} texts for {wanted} slots")]
    Count {
        /// Texts given.
        found: usize,
        /// Slots there are.
        wanted: usize,
    },
    /// A text is too long.
    #[error("the attacker gave a text of {0} bytes, more than {MAX_SLOT_BYTES}")]
    TooLong(usize),
}

/// The slots of a scene, by source and then by field.
#[must_use]
pub fn slots(scene: &Scene) -> Vec<Slot> {
    let sources = scene.scenario.sources.iter().enumerate();
    let slots = sources.flat_map(|(source, spec)| {
        spec.slots.iter().map(move |&position| {
            let field = &spec.content.fields[usize::from(position)];
            Slot {
                source: SourceId::at(source),
                field: field.name.clone(),
                default: field.value.clone(),
            }
        })
    });
    slots.collect()
}

/// The scene with its slots filled by `attacker`. One that is filled with other words is another
/// scenario, so it has another hash; its name stays, and with it all keyed draws.
///
/// # Errors
/// When the attacker gives another number of texts, or one that is too long.
pub fn filled(
    scene: &Scene,
    attacker: &mut dyn Attacker,
    feedback: Option<Feedback>,
    draws: &mut Draws,
) -> Result<Scene, AttackError> {
    let slots = slots(scene);
    let texts = attacker.fill(&slots, feedback, draws);
    if texts.len() != slots.len() {
        return Err(AttackError::Count {
            found: texts.len(),
            wanted: slots.len(),
        });
    }
    if let Some(long) = texts.iter().find(|text| text.len() > MAX_SLOT_BYTES) {
        return Err(AttackError::TooLong(long.len()));
    }
    let same = slots
        .iter()
        .zip(&texts)
        .all(|(slot, text)| slot.default == *text);
    if same {
        return Ok(scene.clone());
    }
    let mut scenario = (*scene.scenario).clone();
    let mut identity = scenario.content_hash.to_le_bytes().to_vec();
    for (slot, text) in slots.iter().zip(&texts) {
        put(
            &mut scenario.sources[slot.source.index()].content,
            slot,
            text,
        );
        identity.extend_from_slice(&(text.len() as u64).to_le_bytes());
        identity.extend_from_slice(text.as_bytes());
    }
    scenario.content_hash = xxh3_128(&identity);
    Ok(Scene {
        scenario: Arc::new(scenario),
        script: scene.script.clone(),
    })
}

fn put(content: &mut Arc<plugins::value::Content>, slot: &Slot, text: &Text) {
    let fields = &mut Arc::make_mut(content).fields;
    for field in fields.iter_mut().filter(|field| field.name == slot.field) {
        field.value = text.clone();
    }
}

#[cfg(test)]
mod tests {
    use plugins::attacker::Fixed;
    use plugins::draws::RolloutKey;
    use plugins::state::SavedState;

    use super::*;

    fn scene() -> Scene {
        Scene::parse(
            include_str!("../worlds/demos/case1_violation_commits.ron"),
            include_str!("../worlds/demos/case1_violation_commits.script.ron"),
            "case1_violation_commits",
        )
        .expect("a shipped world")
    }

    fn attacked(attacker: &mut dyn Attacker) -> Result<Scene, AttackError> {
        filled(
            &scene(),
            attacker,
            None,
            &mut Draws::new(RolloutKey::default()),
        )
    }

    struct Says(&'static str, usize);
    impl SavedState for Says {}
    impl Attacker for Says {
        fn fill(&mut self, _: &[Slot], _: Option<Feedback>, _: &mut Draws) -> Vec<Text> {
            vec![self.0.into(); self.1]
        }
    }

    #[test]
    fn the_fixed_attack_changes_nothing() {
        let same = attacked(&mut Fixed).expect("a fixed attack");
        assert_eq!(same.scenario, scene().scenario);
    }

    #[test]
    fn filled_slots_make_another_scenario_of_the_same_name() {
        let count = slots(&scene()).len();
        assert!(count > 0);
        let other = attacked(&mut Says("other words", count)).expect("an attack");
        assert_ne!(other.scenario.content_hash, scene().scenario.content_hash);
        assert_eq!(other.scenario.identity, scene().scenario.identity);
        assert!(
            slots(&other)
                .iter()
                .all(|slot| &*slot.default == "other words")
        );
    }

    #[test]
    fn an_attack_that_fits_no_slots_is_refused() {
        let count = slots(&scene()).len();
        let error = attacked(&mut Says("a", count + 1)).expect_err("one too many");
        assert!(matches!(error, AttackError::Count { .. }));
    }
}
