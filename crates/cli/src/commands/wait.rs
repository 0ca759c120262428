//! `diligence wait`: waits for a signal, or until a name has an owner.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use inspector::introspection::Argument;
use inspector::{
    CallSettings, Inspector, InspectorTimeouts, ObjectWatch, SignalBody, SignalEvent, Starting,
    WatchedSignal,
};
use sys::clock::monotonic;

use super::start;
use crate::amount;
use crate::bus_choice::BusChoice;
use crate::poke::error::PokeError;
use crate::poke::shown::{ShownKind, ShownOptions, ShownValues};

/// Arguments of `diligence wait`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// `[SERVICE] PATH INTERFACE SIGNAL`, `[SERVICE] PATH INTERFACE.SIGNAL` or `NAME`
    #[arg(value_name = "WORD", required_unless_present = "activate", num_args = 1..=4)]
    words: Vec<String>,
    /// The time to wait; 0 means forever
    #[arg(short, long, value_name = "TIME", value_parser = amount::time_or_zero, default_value = "0")]
    timeout: Duration,
    /// Start the service of this name first; without other words, wait for this name
    #[arg(long, value_name = "NAME")]
    activate: Option<String>,
    #[command(flatten)]
    shown: ShownOptions,
}

/// The event to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaited<'w> {
    Name(&'w str),
    Signal { service: Option<&'w str>, path: &'w str, interface: &'w str, member: &'w str },
}

impl WaitArgs {
    /// Waits for the event and prints its arguments.
    pub(crate) fn run(&self) -> Result<ExitCode, PokeError> {
        let awaited = match &self.activate {
            Some(name) if self.words.is_empty() => Awaited::Name(name),
            _ => awaited(&self.words)?,
        };
        let deadline = self.timeout().map(|timeout| monotonic() + timeout);
        let usual = InspectorTimeouts::default();
        let answer = self.timeout().map_or(usual.reply, |timeout| usual.reply.min(timeout));
        let inspector = self.bus.inspector(InspectorTimeouts { reply: answer, ..usual })?;
        match awaited {
            Awaited::Name(name) => self.name(&inspector, name, deadline),
            Awaited::Signal { service, path, interface, member } => {
                let watch = inspector.watch_signal(service, path, interface, member)?;
                self.activate(&inspector)?;
                self.signal(&inspector, &watch, deadline)
            }
        }
    }

    /// Waits until a name has an owner. The match rule is added before the owner is queried, so
    /// that no change is missed.
    fn name(
        &self,
        inspector: &Inspector,
        name: &str,
        deadline: Option<Duration>,
    ) -> Result<ExitCode, PokeError> {
        let watch = inspector.watch_name(name)?;
        self.activate(inspector)?;
        loop {
            if start::is_owned(inspector, name)? {
                return Ok(ExitCode::SUCCESS);
            }
            self.next(&watch, deadline)?;
        }
    }

    fn signal(
        &self,
        inspector: &Inspector,
        watch: &ObjectWatch,
        deadline: Option<Duration>,
    ) -> Result<ExitCode, PokeError> {
        loop {
            let SignalEvent::Signal(signal) = self.next(watch, deadline)? else { continue };
            return match &signal.body {
                SignalBody::Arguments(values) => {
                    let origin = ShownKind::Signal { names: &self.names(inspector, &signal) };
                    let shown = ShownValues { values, origin, descriptors: &signal.descriptors };
                    Ok(self.shown.print(&shown))
                }
                SignalBody::Failure(failure) => Err(failure.clone().into()),
            };
        }
    }

    /// The names of the arguments of a signal, if the output shows them and the object describes
    /// them.
    fn names(&self, inspector: &Inspector, signal: &WatchedSignal) -> Vec<Argument> {
        if !self.shown.has_names() {
            return Vec::new();
        }
        let settings = CallSettings { starting: Starting::Never, ..CallSettings::default() };
        let introspection = inspector.introspection(&signal.sender, &signal.path, &settings).ok();
        let interface = introspection.as_ref().and_then(|all| all.interface(&signal.interface));
        let mut signals = interface.into_iter().flat_map(|one| &one.signals);
        let described = signals.find(|one| one.name == signal.member);
        described.map(|one| one.arguments.clone()).unwrap_or_default()
    }

    fn next(
        &self,
        watch: &ObjectWatch,
        deadline: Option<Duration>,
    ) -> Result<SignalEvent, PokeError> {
        let left = deadline.map(|deadline| deadline.saturating_sub(monotonic()));
        watch.next(left)?.ok_or_else(|| {
            let words = match self.words.as_slice() {
                [] => self.activate.clone().unwrap_or_default(),
                words => words.join(" "),
            };
            PokeError::Late(format!("timed out after {:?} waiting for {words}", self.timeout))
        })
    }

    /// The timeout; `None` means forever.
    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout).filter(|timeout| !timeout.is_zero())
    }

    fn activate(&self, inspector: &Inspector) -> Result<(), PokeError> {
        match &self.activate {
            Some(name) => {
                let timeout = self.timeout().unwrap_or(start::TIMEOUT);
                start::start(inspector, name, timeout).map(drop)
            }
            None => Ok(()),
        }
    }
}

fn awaited(words: &[String]) -> Result<Awaited<'_>, PokeError> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let (service, words) = match words.as_slice() {
        [name] => return Ok(Awaited::Name(name)),
        [path, ..] if path.starts_with('/') => (None, &words[..]),
        [service, ..] => (Some(*service), &words[1..]),
        [] => (None, &words[..]),
    };
    let malformed = || {
        let text =
            "expected NAME, [SERVICE] PATH INTERFACE SIGNAL or [SERVICE] PATH INTERFACE.SIGNAL";
        PokeError::Words(text.to_owned())
    };
    let (path, interface, member) = match words {
        [path, interface, member] => (*path, *interface, *member),
        [path, full] => {
            let (interface, member) = full.rsplit_once('.').ok_or_else(malformed)?;
            (*path, interface, member)
        }
        _ => return Err(malformed()),
    };
    Ok(Awaited::Signal { service, path, interface, member })
}

const LONG_HELP: &str = "\
With one word it waits until this name has an owner; otherwise it waits for the signal, and prints the \
arguments of the signal:

  diligence wait org.example.Player --timeout 5s
  diligence wait org.example.Player /org/example/Player org.example.Player Played
  diligence wait /org/example/Player org.example.Player.Played

The exit status is 0 if the event happened, 1 if the timeout passed first, and 2 if the command line \
is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_signal_or_a_name() {
        let signal =
            |service| Awaited::Signal { service, path: "/p", interface: "a.I", member: "S" };
        for (words, expected) in [
            (&["a.b"][..], Awaited::Name("a.b")),
            (&["/p", "a.I", "S"], signal(None)),
            (&["/p", "a.I.S"], signal(None)),
            (&["a.b", "/p", "a.I", "S"], signal(Some("a.b"))),
            (&["a.b", "/p", "a.I.S"], signal(Some("a.b"))),
        ] {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(awaited(&words).expect("the words are valid"), expected, "{words:?}");
        }
        for words in [&["a.b", "/p"][..], &["/p", "S"], &["/p", "a.I", "S", "x"]] {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            assert!(awaited(&words).is_err(), "{words:?}");
        }
    }
}
