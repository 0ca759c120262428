//! Of what there are tables.

use std::str::FromStr;

use super::{
    GroupKeyKind, GroupedTraffic, Sweep, Unknowable, dispatch, member_sizes, recipients, replies,
    rules, sizes, switches,
};
use crate::model::{Capture, CapturedMessage};
use crate::table::DataTable;

/// What a table has a row for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TableSubject {
    /// What messages have in common: see [`GroupedTraffic`].
    Group(GroupKeyKind),
    /// Sizes: see [`sizes`].
    Size,
    /// The smallest and largest of each member: see [`member_sizes`].
    MemberSize,
    /// How many get each signal: see [`recipients`].
    Recipients,
    /// Match rules of each connection: see [`rules`].
    Rules,
    /// Calls that the callee did not answer, and replies that no caller waits for: see [`replies`].
    Replies,
    /// How long the bus had the messages of each member, by phases: see [`dispatch`].
    Dispatch,
    /// How often processes were switched for each call: see [`switches`].
    Switches,
}

/// No table has the requested name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no table of \"{name}\"")]
pub struct UnknownSubject {
    /// The requested name.
    pub name: String,
}

impl TableSubject {
    /// All of them, in the order in which people see them, each with its name and what it is.
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
        (Self::Size, "size", "Sizes in half decades"),
        (Self::MemberSize, "member-size", "Smallest, mean and largest message of each member"),
        (Self::Recipients, "recipients", "Numbers of recipients of signals"),
        (Self::Rules, "rules", "Match rules of each connection; takes no query"),
        (
            Self::Replies,
            "replies",
            "Calls that the callee did not answer, late replies, replies without a call",
        ),
        (
            Self::Dispatch,
            "dispatch",
            "Time of messages in the bus, by step (receiving, dispatch, match rules, sending); from its trace",
        ),
        (Self::Switches, "switches", "Context switches during each call, from `record --switches`"),
    ];

    /// All of them, in the order in which people see them.
    pub fn all() -> [Self; 18] {
        Self::WORDS.map(|(subject, ..)| subject)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// What it is, for people who choose.
    pub fn about(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        let mut words = Self::WORDS.into_iter();
        let words = words.find_map(|(one, name, about)| (one == self).then_some((name, about)));
        words.expect("all subjects have words")
    }

    /// The table, of the messages that are selected; that of rules is of all. `sweep` is what sizes
    /// cost.
    ///
    /// # Errors
    ///
    /// If the recording does not have what the table is made of.
    pub fn table(
        self,
        capture: &Capture,
        mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
        sweep: Option<&Sweep>,
    ) -> Result<DataTable, Unknowable> {
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
