//! An attacker that is a process.

use std::sync::Arc;

use plugins::attacker::{Attacker, Feedback, Slot};
use plugins::draws::Draws;
use plugins::state::{RestoreError, SavedState};
use plugins::value::Text;
use serde_json::{Value as Json, json};

use crate::hear::Texts;
use crate::pool::Pool;
use crate::session::{STATE_VERSION, Session};
use crate::tell::{Object, Question};

/// The bound of the number that an attacker is given: what every language holds exactly.
const SEED_BOUND: u64 = 1 << 53;

/// One instance, for a series of rollouts.
pub(crate) struct ProcessAttacker {
    session: Session,
}

impl ProcessAttacker {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self {
            session: Session::new(pool),
        }
    }
}

impl SavedState for ProcessAttacker {
    fn version(&self) -> u32 {
        STATE_VERSION
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.session.save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        self.session.restore(bytes, version)
    }
}

impl Attacker for ProcessAttacker {
    /// After a fault every slot keeps what the world file says; the fault is counted.
    fn fill(&mut self, slots: &[Slot], feedback: Option<Feedback>, draws: &mut Draws) -> Vec<Text> {
        let seed = draws.below("process_attacker", SEED_BOUND);
        let told = slots.iter().map(|slot| {
            json!({ "source": slot.source.0, "field": *slot.field, "default": *slot.default })
        });
        let told: Json = told.collect();
        let question = Question {
            rollout: None,
            reset: &|| json!({}),
            events: 0,
            event: &|_| Object::new(),
            facts: &|| {
                let mut facts = Object::new();
                facts.insert("slots".into(), told.clone());
                facts.insert(
                    "feedback".into(),
                    json!(feedback.map(|feedback| feedback.stage)),
                );
                facts.insert("seed".into(), json!(seed));
                facts
            },
        };
        let understand = |reply: &Texts| {
            let (found, wanted) = (reply.texts.len(), slots.len());
            if found == wanted {
                Ok(reply
                    .texts
                    .iter()
                    .map(|text| Text::from(text.as_str()))
                    .collect())
            } else {
                Err(format!("{found} texts for {wanted} slots"))
            }
        };
        let texts = self.session.ask(None, "fill", question, understand);
        texts.unwrap_or_else(|| slots.iter().map(|slot| slot.default.clone()).collect())
    }
}
