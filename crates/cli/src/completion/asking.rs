//! Asks the bus, for so long as somebody waits who has pressed a key.

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

/// What can stand in the place of a word that means this; `None` if it means nothing.
pub(super) fn offers(
    standing: &LinePosition<'_>,
    meanings: Vec<Meaning>,
    written: &str,
) -> Option<Offers> {
    if meanings.is_empty() {
        return None;
    }
    let offers = meanings.into_iter().flat_map(|meaning| match meaning {
        Meaning::Live(question) => live(standing, question, written),
        Meaning::Query => query(written),
        Meaning::Rule => LintRule::all().iter().map(rule).collect(),
    });
    Some(Offers::Words(offers.collect()))
}

fn live(standing: &LinePosition<'_>, question: BusQuestion, written: &str) -> Vec<Offer> {
    let Some(place) = place(standing) else { return Vec::new() };
    let written = written.to_owned();
    let (sender, receiver) = mpsc::channel();
    // What takes too long is left behind: it ends with the program.
    thread::spawn(move || sender.send(answer(&place, &question, &written)));
    receiver.recv_timeout(ASKING_MAX).unwrap_or_default()
}

/// The bus that the line chooses. One that takes a program to get to, as ssh, is not asked: that takes
/// its time, and may want a password.
fn place(standing: &LinePosition<'_>) -> Option<BusPlace> {
    let parser = BusChoice::augment_args(Command::new("bus").no_binary_name(true));
    let is_known = |id: &str| parser.get_arguments().any(|known| known.get_id() == id);
    let given = standing.given.iter().filter(|(argument, _)| is_known(argument.get_id().as_str()));
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
    let inspector = Inspector::with_timeouts(connection, PATIENCE);
    match question {
        BusQuestion::Name(which) => names::offers(&inspector, *which, written),
        BusQuestion::Path { service } => {
            let until = Instant::now() + GOING_DOWN_MAX;
            paths::offers(&inspector, service.as_deref(), written, until)
        }
        BusQuestion::Interface(object) => members::interfaces(&inspector, object),
        BusQuestion::Member { object, kind, spelling, words } => {
            members::offers(&inspector, object, (*kind, *spelling), words, written)
        }
    }
}

/// What fits into a query. What recordings have in them is not looked up.
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

/// How long somebody waits, in all.
const ASKING_MAX: Duration = Duration::from_secs(1);

/// The longest way is to ask for names, then for objects, then for those below them; each time there
/// can be one that keeps silent.
const PATIENCE: InspectorTimeouts =
    InspectorTimeouts { reply: Duration::from_millis(250), total: Duration::from_millis(250) };

/// After this no more is asked than the next objects.
const GOING_DOWN_MAX: Duration = Duration::from_millis(450);
