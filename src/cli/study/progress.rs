//! How far a study is, on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use study::runner::Progress;

use crate::cli::terminal::Terminal;

/// How progress is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProgressChoice {
    /// A bar on a terminal, lines elsewhere
    #[default]
    Auto,
    /// A bar
    Bar,
    /// Ten lines at most
    Lines,
    /// Nothing
    None,
}

/// Progress on its way to the user.
pub(super) enum Display<'a> {
    Bar(ProgressBar),
    Lines {
        terminal: &'a Terminal,
        told_tenths: usize,
    },
    None,
}

impl ProgressChoice {
    /// The display of a study of `total` rollouts.
    pub(super) fn display(self, terminal: &Terminal, total: usize) -> Display<'_> {
        let on_terminal = std::io::stderr().is_terminal();
        match self {
            Self::None => Display::None,
            Self::Auto if !on_terminal => Display::Lines {
                terminal,
                told_tenths: 0,
            },
            Self::Lines => Display::Lines {
                terminal,
                told_tenths: 0,
            },
            Self::Auto | Self::Bar => {
                let bar = ProgressBar::new(total as u64);
                if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} rollouts") {
                    bar.set_style(style);
                }
                Display::Bar(bar)
            }
        }
    }
}

impl Display<'_> {
    /// Shows how far the study is.
    pub(super) fn show(&mut self, progress: Progress) {
        match self {
            Self::None => {}
            Self::Bar(bar) => bar.set_position(progress.done as u64),
            Self::Lines {
                terminal,
                told_tenths,
            } => {
                let tenths = progress.done * 10 / progress.total.max(1);
                if tenths > *told_tenths {
                    *told_tenths = tenths;
                    terminal.note(&format!("{} of {} rollouts", progress.done, progress.total));
                }
            }
        }
    }

    /// Clears the bar.
    pub(super) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Measures how long a study took, which enters the summary and nothing else.
pub(super) struct Clock(Duration);

impl Clock {
    /// Begins to measure.
    pub(super) fn start() -> Self {
        Self(now())
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        now().saturating_sub(self.0).as_secs_f64()
    }
}

/// Time since the program began to measure.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "how long a study took is told to the user and is no part of its result"
)]
fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}
