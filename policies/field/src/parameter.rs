//! Small helpers for parameters.

use plugins::parameters::{ParameterKind, ParameterSpec};
use plugins::registry::CreateError;

/// A parameter that is one of `words`; the first is the default.
pub(crate) const fn choice(
    name: &'static str,
    doc: &'static str,
    words: &'static [&'static str],
) -> ParameterSpec {
    ParameterSpec {
        name,
        doc,
        kind: ParameterKind::Choice(words),
    }
}

/// A parameter that is a text, empty by default.
pub(crate) const fn text(name: &'static str, doc: &'static str) -> ParameterSpec {
    ParameterSpec {
        name,
        doc,
        kind: ParameterKind::Text(""),
    }
}

/// A parameter that is a truth value.
pub(crate) const fn truth(name: &'static str, doc: &'static str, default: bool) -> ParameterSpec {
    ParameterSpec {
        name,
        doc,
        kind: ParameterKind::Boolean(default),
    }
}

/// What is wrong with the text of a parameter.
pub(crate) fn wrong_text(plugin: &str, parameter: &str, problem: &str) -> CreateError {
    CreateError::Configuration(format!("parameter `{parameter}` of `{plugin}`: {problem}"))
}

/// Reads a state that [`save`] wrote.
///
/// # Errors
/// When the version differs or the bytes are damaged.
pub(crate) fn restored<S: serde::de::DeserializeOwned>(
    bytes: &[u8],
    version: u32,
    expected: u32,
) -> Result<S, plugins::state::RestoreError> {
    use plugins::state::RestoreError;
    if version != expected {
        return Err(RestoreError::Version {
            found: version,
            expected,
        });
    }
    match postcard::take_from_bytes(bytes) {
        Ok((state, [])) => Ok(state),
        Ok(_) => Err(RestoreError::Damaged("bytes are left over".to_owned())),
        Err(error) => Err(RestoreError::Damaged(error.to_string())),
    }
}

/// Appends a state to `out`.
pub(crate) fn save(state: &impl serde::Serialize, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and every state here can be written.
    if let Ok(bytes) = postcard::to_stdvec(state) {
        out.extend(bytes);
    }
}
