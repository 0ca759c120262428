//! Requests to the bus for completion, with a short time limit because the user waits for them.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use capture::Capture;
use capture::lint::LintRule;
use capture::query::complete;
use clap::{Args as _, Command, FromArgMatches as _};
use inspector::{Inspector, InspectorTimeouts};
use recorder::BusPlace;
use wire::address::{AddressList, Transport};

use super::meaning::{BusQuestion, Meaning};
use super::offers::{Offer, Offers};
use super::walk::LinePosition;
use super::{members, names, paths};
use crate::bus_choice::BusChoice;

/// Returns the completions of a word with these meanings; `None` if it has no meanings.
pub(super) fn offers(
    position: &LinePosition<'_>,
    meanings: Vec<Meaning>,
    written: &str,
) -> Option<Offers> {
    if meanings.is_empty() {
        return None;
    }
    let offers = meanings.into_iter().flat_map(|meaning| match meaning {
        Meaning::Live(question) => live(position, question, written),
        Meaning::Query => query(written),
        Meaning::Rule => LintRule::all().iter().map(rule).collect(),
    });
    Some(Offers::Words(offers.collect()))
}

fn live(position: &LinePosition<'_>, question: BusQuestion, written: &str) -> Vec<Offer> {
    let Some(place) = place(position) else { return Vec::new() };
    let written = written.to_owned();
    let (sender, receiver) = mpsc::channel();
    // A thread that takes too long is abandoned; it ends with the program.
    thread::spawn(move || sender.send(answer(&place, &question, &written)));
    receiver.recv_timeout(TIMEOUT).unwrap_or_default()
}

/// The bus that the line selects. A bus that is reached through a program such as ssh is not asked,
/// because that is slow and can require a password.
fn place(position: &LinePosition<'_>) -> Option<BusPlace> {
    let parser = BusChoice::augment_args(Command::new("bus").no_binary_name(true));
    let is_known = |id: &str| parser.get_arguments().any(|known| known.get_id() == id);
    let given = position.given.iter().filter(|(argument, _)| is_known(argument.get_id().as_str()));
    let words: Vec<_> = given
        .filter_map(|(argument, value)| {
            let long = argument.get_long()?;
            Some(value.map_or_else(|| format!("--{long}"), |value| format!("--{long}={value}")))
        })
        .collect();
    let matches = parser.try_get_matches_from(words).ok()?;
    let place = BusChoice::from_arg_matches(&matches).ok()?.place();
    let address = AddressList::parse(&place.address()?).ok()?;
    let is_program = |transport: &Transport| matches!(transport, Transport::Unixexec { .. });
    let needs_program = address.entries().iter().any(|entry| is_program(&entry.transport));
    (!needs_program).then_some(place)
}

fn answer(place: &BusPlace, question: &BusQuestion, written: &str) -> Vec<Offer> {
    let Ok(connection) = place.connect() else { return Vec::new() };
    let inspector = Inspector::with_timeouts(connection, TIMEOUTS);
    match question {
        BusQuestion::Name(which) => names::offers(&inspector, *which, written),
        BusQuestion::Path { service } => {
            let until = Instant::now() + DESCENT_TIMEOUT;
            paths::offers(&inspector, service.as_deref(), written, until)
        }
        BusQuestion::Interface(object) => members::interfaces(&inspector, object),
        BusQuestion::Member { object, kind, spelling, words } => {
            members::offers(&inspector, object, (*kind, *spelling), words, written)
        }
    }
}

/// Completions in a query. Recordings are not read for them.
fn query(written: &str) -> Vec<Offer> {
    let found = complete(written, written.len(), &Capture::default());
    let offers = found.offers.into_iter().map(|offer| {
        let word = format!("{}{}", &written[..found.replaces.start], offer.text);
        match word.ends_with([':', '>']) {
            true => Offer::part(word, offer.about),
            false => Offer::whole(word, offer.about),
        }
    });
    offers.collect()
}

fn rule(rule: &LintRule) -> Offer {
    Offer::whole(rule.id.to_string(), rule.title)
}

/// The time limit for all completions from a bus.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The timeouts of requests. A completion takes up to three rounds of them: names, objects, and the
/// objects below these. One silent service can delay each round by the full timeout.
const TIMEOUTS: InspectorTimeouts =
    InspectorTimeouts { reply: Duration::from_millis(250), total: Duration::from_millis(250) };

/// After this time, paths with a single child are no longer followed further down.
const DESCENT_TIMEOUT: Duration = Duration::from_millis(450);
