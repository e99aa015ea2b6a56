//! A world together with the script of the agents in it.

use std::sync::Arc;

use worlds::spec::Scenario;

use crate::Error;

/// A checked scenario and the configuration text of its model: for `scripted`, the script that lies
/// beside the world file.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The text that the model backend is made from.
    pub script: Arc<str>,
}

impl Scene {
    /// Checks a world. `identity` names it in draws, rows and tables: its file name without ending.
    ///
    /// # Errors
    /// When the world has mistakes.
    pub fn parse(world: &str, script: &str, identity: &str) -> Result<Self, Error> {
        let scenario = worlds::load(world, &format!("{identity}.ron"), identity)?;
        Ok(Self {
            scenario: Arc::new(scenario),
            script: script.into(),
        })
    }
}
