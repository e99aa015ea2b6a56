//! Recordings of what models said: playing them, and writing them.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use containment_bench::{Choice, Scene};
use engine::Plugins;
use models::recorded::{
    MAX_RECORDING_BYTES, NAME, PARAMETER, Recorder, Recording, RecordingError, header,
};

use super::codes::Code;
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::problem::Problem;

/// Bytes of the largest recording.
const MAX_BYTES: u64 = MAX_RECORDING_BYTES as u64;

/// The model that the options name, or none if they leave it to the script. A recording names it too.
pub(crate) fn model(
    named: Option<&str>,
    recording: Option<&Path>,
    scene: &Scene,
) -> Result<Option<Choice>, Failure> {
    match (named, recording) {
        (Some(NAME) | None, Some(path)) => player(path, scene).map(Some),
        (Some(NAME), None) => {
            let message = format!("the model `{NAME}` needs a recording");
            let help = "add --recording FILE; `containment run ... --record FILE` writes one";
            Err(Failure::usage(message, Some(help.to_owned())))
        }
        (Some(other), Some(_)) => {
            let message = format!("--recording is for the model `{NAME}`, not for `{other}`");
            let help = format!("write --model {NAME}, or leave --recording out");
            Err(Failure::usage(message, Some(help)))
        }
        (named, None) => Ok(named.map(Choice::from)),
    }
}

/// The model that plays the recording at `path` in `scene`.
fn player(path: &Path, scene: &Scene) -> Result<Choice, Failure> {
    let text = files::text(path, MAX_BYTES)?;
    let name = files::shown(path);
    let recording = Recording::parse(&text).map_err(|error| malformed(&name, &text, error))?;
    let identity = &*scene.scenario.identity;
    if recording.scenario() != identity {
        let recorded = recording.scenario();
        let message = format!("the recording is of the world `{recorded}`, not of `{identity}`");
        let problem = Problem::new(message).code(Code::WrongFile);
        let help = "name the recording of this world, or record again in it with --record FILE";
        return Err(problem.at(&name, &text, 1, 1).help(help).into());
    }
    Ok(Choice {
        name: NAME.to_owned(),
        parameters: [(PARAMETER.to_owned(), text)].into(),
    })
}

fn malformed(name: &str, text: &str, error: RecordingError) -> Failure {
    let exit = if error.is_other_version {
        Exit::UnsupportedVersion
    } else {
        Exit::Invalid
    };
    let problem = Problem::new(error.message)
        .code(Code::WrongFile)
        .at(name, text, error.line, error.column)
        .help(error.help);
    Failure::new(exit, problem)
}

/// What a model says while it is recorded.
pub(crate) struct Tape {
    header: String,
    lines: Receiver<String>,
}

impl Tape {
    /// Has everything written down that the model of `plugins` says.
    pub(crate) fn insert(plugins: Plugins, model: &str, scene: &Scene) -> (Plugins, Self) {
        let (sender, lines) = channel();
        // Who no longer listens needs no line.
        let sink = Box::new(move |line| drop(sender.send(line)));
        let tape = Self {
            header: header(model, &scene.scenario.identity),
            lines,
        };
        let model = Box::new(Recorder::new(plugins.model, sink));
        (Plugins { model, ..plugins }, tape)
    }

    /// Writes the recording of the rollout, which has ended.
    pub(crate) fn write(self, path: &Path) -> Result<(), Failure> {
        let mut text = self.header;
        text.push('\n');
        for line in self.lines.try_iter() {
            text.push_str(&line);
            text.push('\n');
        }
        if text.len() > MAX_RECORDING_BYTES {
            let name = files::shown(path);
            let message = format!("the recording has more than {MAX_BYTES} bytes");
            let problem = Problem::new(message).code(Code::TooLarge).file(name);
            let help = "lower `text_bytes` or `turns` under `limits` in the world";
            return Err(Failure::new(Exit::Incomplete, problem.help(help)));
        }
        files::write(path, text.as_bytes())
    }
}
