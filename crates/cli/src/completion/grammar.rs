//! Completions from the command definitions: commands, options, and values from a fixed list.

use clap::{Arg, ArgAction, ValueHint};

use super::offers::{Offer, Offers};
use super::walk::{LinePosition, takes_values};

/// The subcommands of the command; `None` if it has none.
pub(super) fn subcommands(position: &LinePosition<'_>) -> Option<Offers> {
    let commands = position.command.get_subcommands().filter(|command| !command.is_hide_set());
    let offer =
        |command: &clap::Command| Offer::whole(command.get_name(), line(command.get_about()));
    let offers: Vec<_> = commands.map(offer).collect();
    (!offers.is_empty()).then_some(Offers::Words(offers))
}

/// The options that can still be given. Hidden options are offered only if no other option fits.
pub(super) fn options(position: &LinePosition<'_>, written: &str) -> Offers {
    let is_given =
        |one: &Arg| position.given.iter().any(|(given, _)| given.get_id() == one.get_id());
    let can_be_given = |one: &&Arg| {
        let is_repeatable = matches!(one.get_action(), ArgAction::Append | ArgAction::Count);
        !one.is_positional() && (is_repeatable || !is_given(one))
    };
    let arguments = || position.command.get_arguments().filter(can_be_given);
    let shown = arguments().filter(|one| !one.is_hide_set()).flat_map(spellings);
    let shown: Vec<_> = shown.filter(|offer| offer.word.starts_with(written)).collect();
    if !shown.is_empty() {
        return Offers::Words(shown);
    }
    let hidden = arguments().flat_map(|one| {
        let aliases = one.get_all_aliases().unwrap_or_default();
        let aliases = aliases.into_iter().map(|name| Offer::whole(format!("--{name}"), about(one)));
        spellings(one).into_iter().chain(aliases)
    });
    Offers::Words(hidden.filter(|offer| offer.word.starts_with(written)).collect())
}

/// The values of an argument, if they are known without asking a bus.
pub(super) fn value(argument: &Arg) -> Option<Offers> {
    let possible = argument.get_possible_values();
    let possible = possible.iter().filter(|value| !value.is_hide_set());
    let possible: Vec<_> =
        possible.map(|value| Offer::whole(value.get_name(), line(value.get_help()))).collect();
    if !possible.is_empty() {
        return Some(Offers::Words(possible));
    }
    let names = argument.get_value_names().unwrap_or_default();
    if takes_values(argument) && names.iter().any(|name| name == TRUTH) {
        return Some(booleans(""));
    }
    match argument.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath => Some(Offers::Files),
        ValueHint::DirPath => Some(Offers::Folders),
        _ => None,
    }
}

/// The two values of a boolean.
pub(super) fn booleans(about: &str) -> Offers {
    Offers::Words(["true", "false"].map(|word| Offer::whole(word, about)).into())
}

fn spellings(argument: &Arg) -> Vec<Offer> {
    let has_value = takes_values(argument);
    let is_optional = argument.get_num_args().is_some_and(|count| count.min_values() == 0);
    let about = about(argument);
    let mut offers = Vec::new();
    for long in argument.get_long_and_visible_aliases().unwrap_or_default() {
        if !argument.is_require_equals_set() || is_optional {
            offers.push(Offer::whole(format!("--{long}"), about.clone()));
        }
        if has_value && argument.is_require_equals_set() {
            offers.push(Offer::part(format!("--{long}="), about.clone()));
        }
    }
    let short = argument.get_short_and_visible_aliases().unwrap_or_default();
    offers
        .extend(short.into_iter().map(|letter| Offer::whole(format!("-{letter}"), about.clone())));
    offers
}

fn about(argument: &Arg) -> String {
    line(argument.get_help())
}

/// The first line of a help text.
fn line(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// The value name of options that [`parse_bool`](crate::poke::call_options::parse_bool) parses.
const TRUTH: &str = "BOOL";
