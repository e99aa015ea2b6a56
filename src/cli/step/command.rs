//! The commands of `containment step`.

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Run so many steps.
    Next(u64),
    /// Run the steps of one tick, or all up to and including a tick.
    Tick(Option<u64>),
    /// Run to the end.
    Run,
    /// Show labels.
    Labels,
    /// Say why the last decision, or the last on this call, was made.
    Why(Option<Asked>),
    /// Take a snapshot, and write it to a file.
    Snapshot(Option<String>),
    /// Go back so many steps.
    Back(u64),
    /// Show this list.
    Help,
    /// Stop.
    Quit,
}

/// A call that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// By its number.
    Call(u32),
    /// The only call of this tool.
    Tool(String),
}

/// The list of commands, for `?`, `--help` and errors.
pub(super) const HELP: &str = "\
n [COUNT]  run the next step, or so many
t [TICK]   run the steps of the next tick, or all up to and including TICK
r          run to the end
l          show the labels of agents and memory
w [CALL]   say why the last decision was made, or the last on this call: its number, or its tool if
           there is one call of it
s [FILE]   take a snapshot: show its hash, or write it to FILE
b [COUNT]  go back one step, or so many
?          show this list
q          quit";

impl Command {
    /// Reads one command; none if there is nothing to read.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, String> {
        let mut words = text.split_whitespace();
        let Some(word) = words.next() else {
            return Ok(None);
        };
        let argument = words.next();
        if let Some(extra) = words.next() {
            return Err(format!(
                "`{extra}` is one word too many in `{}`",
                text.trim()
            ));
        }
        let command = match word {
            "n" | "next" => Self::Next(number(argument)?.unwrap_or(1)),
            "t" | "tick" => Self::Tick(number(argument)?),
            "w" | "why" => Self::Why(argument.map(asked)),
            "s" | "snapshot" => Self::Snapshot(argument.map(str::to_owned)),
            "b" | "back" => Self::Back(number(argument)?.unwrap_or(1)),
            _ => Self::parse_plain(word, argument)?,
        };
        Ok(Some(command))
    }

    fn parse_plain(word: &str, argument: Option<&str>) -> Result<Self, String> {
        let command = match word {
            "r" | "run" => Self::Run,
            "l" | "labels" => Self::Labels,
            "?" | "h" | "help" => Self::Help,
            "q" | "quit" => Self::Quit,
            _ => return Err(format!("`{word}` is no command")),
        };
        match argument {
            None => Ok(command),
            Some(extra) => Err(format!("`{word}` takes nothing, got `{extra}`")),
        }
    }
}

/// A number is a call, anything else the name of a tool.
fn asked(argument: &str) -> Asked {
    let call = argument.parse().map(Asked::Call);
    call.unwrap_or_else(|_| Asked::Tool(argument.to_owned()))
}

fn number<N: std::str::FromStr>(argument: Option<&str>) -> Result<Option<N>, String> {
    let Some(text) = argument else {
        return Ok(None);
    };
    let number = text.parse();
    number
        .map(Some)
        .map_err(|_| format!("`{text}` is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!(Command::parse("n"), Ok(Some(Command::Next(1))));
        assert_eq!(Command::parse(" n 3 "), Ok(Some(Command::Next(3))));
        assert_eq!(Command::parse("t 7"), Ok(Some(Command::Tick(Some(7)))));
        assert_eq!(Command::parse("why"), Ok(Some(Command::Why(None))));
        let call = Command::Why(Some(Asked::Call(3)));
        assert_eq!(Command::parse("w 3"), Ok(Some(call)));
        let tool = Command::Why(Some(Asked::Tool("send".to_owned())));
        assert_eq!(Command::parse("w send"), Ok(Some(tool)));
        let snapshot = Command::Snapshot(Some("a.snap".to_owned()));
        assert_eq!(Command::parse("s a.snap"), Ok(Some(snapshot)));
        assert_eq!(Command::parse(""), Ok(None));
    }

    #[test]
    fn nonsense_is_refused() {
        for nonsense in ["x", "n x", "n 1 2", "r 3", "t -1"] {
            assert!(Command::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
