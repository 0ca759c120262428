//! The tables of statistics and their names.

use std::str::FromStr;

use super::{
    GroupKeyKind, GroupedTraffic, Sweep, UnknownReason, dispatch, member_sizes, recipients,
    replies, rules, sizes, switches,
};
use crate::model::{Capture, CapturedMessage};
use crate::table::DataTable;

/// A table of statistics.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TableSubject {
    /// Messages grouped by a key: see [`GroupedTraffic`].
    Group(GroupKeyKind),
    /// Messages by size: see [`sizes`].
    Size,
    /// The smallest and largest message of each member: see [`member_sizes`].
    MemberSize,
    /// The number of recipients of signals: see [`recipients`].
    Recipients,
    /// The match rules of each connection: see [`rules`].
    Rules,
    /// Calls without a reply of the callee, and replies without a waiting caller: see [`replies`].
    Replies,
    /// The time in the bus by member and phase: see [`dispatch`].
    Dispatch,
    /// The number of context switches for each call: see [`switches`].
    Switches,
}

/// An error: no table has the requested name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no table named \"{name}\"")]
pub struct UnknownSubject {
    /// The name that was requested.
    pub name: String,
}

impl TableSubject {
    /// All tables in the order of display, each with its name and a description.
    const WORDS: [(Self, &'static str, &'static str); 18] = [
        (Self::Group(GroupKeyKind::Member), "member", "Methods and signals"),
        (
            Self::Group(GroupKeyKind::Service),
            "service",
            "Services: callees, and senders of signals",
        ),
        (Self::Group(GroupKeyKind::Interface), "interface", "Interfaces"),
        (Self::Group(GroupKeyKind::Path), "path", "Objects"),
        (Self::Group(GroupKeyKind::Sender), "sender", "Connections that send messages"),
        (Self::Group(GroupKeyKind::Process), "process", "Processes that send messages"),
        (Self::Group(GroupKeyKind::Unit), "unit", "systemd units that send"),
        (Self::Group(GroupKeyKind::Pair), "pair", "Sender with recipient"),
        (Self::Group(GroupKeyKind::Type), "type", "Calls, returns, errors, signals"),
        (Self::Group(GroupKeyKind::Error), "error", "Names of errors"),
        (Self::Group(GroupKeyKind::Bus), "bus", "Buses"),
        (Self::Size, "size", "Messages by size, in steps of about 3 (1, 3, 10, 32 … bytes)"),
        (Self::MemberSize, "member-size", "Smallest, mean and largest message of each member"),
        (Self::Recipients, "recipients", "Numbers of recipients of signals"),
        (Self::Rules, "rules", "Match rules of each connection; takes no query"),
        (
            Self::Replies,
            "replies",
            "Calls without a reply of the callee, late replies, replies without a call",
        ),
        (
            Self::Dispatch,
            "dispatch",
            "Time of messages in the bus, by step (receiving, dispatch, match rules, sending); from its trace",
        ),
        (Self::Switches, "switches", "Context switches during each call, from `record --switches`"),
    ];

    /// Returns all tables in the order of display.
    pub fn all() -> [Self; 18] {
        Self::WORDS.map(|(subject, ..)| subject)
    }

    /// The name that commands accept.
    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// A short description of the table.
    pub fn about(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        let mut words = Self::WORDS.into_iter();
        let words = words.find_map(|(one, name, about)| (one == self).then_some((name, about)));
        words.expect("all subjects have words")
    }

    /// Creates the table for the selected messages; the table of match rules covers the whole
    /// recording. `sweep` has the cost of message sizes.
    ///
    /// # Errors
    ///
    /// If the recording lacks the data for the table.
    pub fn table(
        self,
        capture: &Capture,
        mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
        sweep: Option<&Sweep>,
    ) -> Result<DataTable, UnknownReason> {
        let messages = capture.messages();
        Ok(match self {
            Self::Group(by) => {
                let mut groups = match by {
                    GroupKeyKind::Member => GroupedTraffic::with_recipients(capture, by),
                    _ => GroupedTraffic::new(capture, by),
                };
                messages.filter(|message| selects(message)).for_each(|one| groups.add(&one));
                let mut table = groups.table();
                if let Some(reason) = groups.unknown_recipients() {
                    table.add_note(format!("the recipients of signals are unknown: {reason}"));
                }
                table
            }
            Self::Size => sizes(messages.filter(|message| selects(message)), sweep),
            Self::MemberSize => member_sizes(capture, messages.filter(|message| selects(message))),
            Self::Recipients => return recipients(capture, selects),
            Self::Rules => return rules(capture),
            Self::Replies => replies(capture, selects),
            Self::Dispatch => return dispatch(capture, selects),
            Self::Switches => return switches(capture, selects),
        })
    }
}

impl FromStr for TableSubject {
    type Err = UnknownSubject;

    fn from_str(name: &str) -> Result<Self, UnknownSubject> {
        let found = Self::all().into_iter().find(|subject| subject.as_str() == name);
        found.ok_or_else(|| UnknownSubject { name: name.to_owned() })
    }
}
