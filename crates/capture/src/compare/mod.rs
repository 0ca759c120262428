//! The differences between two recordings.

mod noise;
mod numbered;

use std::collections::{BTreeMap, BTreeSet};

use wire::message::MessageType;

use crate::model::{Capture, CapturedMessage};
use crate::percentiles::cells;
use crate::record::CaptureMethod;
use crate::statistics::MessageGroup;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// A method or signal of a service, identified by names that are the same in every recording.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ComparedMember {
    /// The callee, or the sender of the signal: a well-known name, with `*` for the number of a
    /// process in it, or a program; [`UNNAMED`] if it has neither.
    pub service: String,
    /// The interface; empty if calls do not name one.
    pub interface: String,
    /// The name of the method or signal.
    pub member: String,
    /// The kind of the member.
    pub kind: MemberKind,
}

/// The kind of a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemberKind {
    /// A method, which is called.
    Method,
    /// A signal, which is emitted.
    Signal,
}

/// The service name of connections of which only the unique name is known.
pub const UNNAMED: &str = "(unnamed)";

/// A member that differs between two recordings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The member that differs.
    pub member: ComparedMember,
    /// Its messages in the first recording.
    pub before: MessageGroup,
    /// Its messages in the second recording.
    pub after: MessageGroup,
    /// The changes that exceed the noise; not empty.
    pub changes: Vec<MemberChange>,
}

worded_enum! {
    /// A change of a member between two recordings.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum MemberChange {
        /// Only the second recording has it.
        New = "new",
        /// Only the first recording has it.
        Gone = "gone",
        /// A larger share of its calls fails.
        MoreErrors = "more errors",
        /// A smaller share of its calls fails.
        FewerErrors = "fewer errors",
        /// The 95th percentile of its durations is larger.
        Slower = "slower",
        /// The 95th percentile of its durations is smaller.
        Faster = "faster",
        /// The member is used more.
        More = "more",
        /// The member is used less.
        Fewer = "fewer",
    }
}

/// Groups the selected messages by member.
pub fn members<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> BTreeMap<ComparedMember, MessageGroup> {
    let mut by_ids = std::collections::HashMap::new();
    for message in capture.messages().filter(|message| selects(message)) {
        let asked = message.call().unwrap_or(message);
        let Some((kind, service)) = kind_and_service(&asked) else { continue };
        let key = (service, asked.interface_id(), asked.member_id(), kind);
        by_ids.entry(key).or_insert_with(MessageGroup::default).add(&message);
    }
    let text = |id| capture.strings().get(id).to_owned();
    let mut members = BTreeMap::<_, MessageGroup>::new();
    for ((service, interface, member, kind), group) in by_ids {
        let service = numbered::without_numbers(service).into_owned();
        let member =
            ComparedMember { service, interface: text(interface), member: text(member), kind };
        members.entry(member).or_default().merge(group);
    }
    members
}

fn kind_and_service<'c>(message: &CapturedMessage<'c>) -> Option<(MemberKind, &'c str)> {
    let capture = message.capture();
    let (kind, service) = match message.kind() {
        MessageType::MethodCall => (MemberKind::Method, capture.addressee_label(message)),
        MessageType::Signal => {
            let sender = message.from().map(|peer| capture.program_label(peer));
            (MemberKind::Signal, sender.unwrap_or(UNNAMED))
        }
        _ => return None,
    };
    Some((kind, if service.starts_with(':') { UNNAMED } else { service }))
}

/// Returns the members whose differences exceed the noise. New and removed members come first, then
/// failing ones, slower ones, and more frequently used ones.
pub fn differences(
    before: &BTreeMap<ComparedMember, MessageGroup>,
    after: &BTreeMap<ComparedMember, MessageGroup>,
) -> Vec<Difference> {
    let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let difference = |member: &ComparedMember| {
        let [before, after] =
            [before, after].map(|groups| groups.get(member).cloned().unwrap_or_default());
        let changes = changes(&before, &after);
        (!changes.is_empty()).then(|| Difference { member: member.clone(), before, after, changes })
    };
    let mut found: Vec<_> = all.into_iter().filter_map(difference).collect();
    found.sort_by_key(|difference| difference.changes.first().copied());
    found
}

fn changes(before: &MessageGroup, after: &MessageGroup) -> Vec<MemberChange> {
    match (before.messages, after.messages) {
        (0, _) => return vec![MemberChange::New],
        (_, 0) => return vec![MemberChange::Gone],
        _ => {}
    }
    let failures = |group: &MessageGroup| (group.failures(), group.calls);
    let uses = |group: &MessageGroup| group.calls + group.signals;
    [
        noise::shares(failures(before), failures(after))
            .map(|trend| trend.choose(MemberChange::MoreErrors, MemberChange::FewerErrors)),
        noise::durations(&before.durations, &after.durations)
            .map(|trend| trend.choose(MemberChange::Slower, MemberChange::Faster)),
        noise::counts(uses(before), uses(after))
            .map(|trend| trend.choose(MemberChange::More, MemberChange::Fewer)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a warning if durations were measured by the bus in one recording and at a monitor in the
/// other; `None` if they can be compared.
pub fn unlike_durations(
    before: impl IntoIterator<Item = CaptureMethod>,
    after: impl IntoIterator<Item = CaptureMethod>,
) -> Option<String> {
    let by_bus = |methods: &mut dyn Iterator<Item = CaptureMethod>| {
        let mut methods = methods.map(|method| method == CaptureMethod::Trace);
        let first = methods.next()?;
        methods.all(|by_bus| by_bus == first).then_some(first)
    };
    let before = by_bus(&mut before.into_iter())?;
    let after = by_bus(&mut after.into_iter())?;
    let measured =
        |by_bus| if by_bus { "by the bus" } else { "by a monitor, when it read the messages" };
    (before != after).then(|| {
        format!(
            "durations before were measured {}, and after {}: calls may seem slower or faster only because of this",
            measured(before),
            measured(after)
        )
    })
}

/// Formats differences as a table.
pub fn table(differences: &[Difference]) -> DataTable {
    let full = |member: &ComparedMember| match member.interface.as_str() {
        "" => member.member.clone(),
        interface => format!("{interface}.{}", member.member),
    };
    let words = |changes: &[MemberChange]| {
        changes.iter().map(|change| change.as_str()).collect::<Vec<_>>().join(", ")
    };
    let count = |name| Column::number(name, ColumnUnit::Count);
    let time = |name| Column::number(name, ColumnUnit::Time);
    let size = |name| Column::number(name, ColumnUnit::Bytes).spare();
    DataTable::of(
        differences,
        &[
            (Column::text("change"), &|it| Cell::Text(words(&it.changes))),
            (Column::text("member"), &|it| Cell::Text(full(&it.member))),
            (Column::text("service"), &|it| Cell::text(&it.member.service)),
            (count("used before"), &|it| uses(&it.before)),
            (count("after"), &|it| uses(&it.after)),
            (time("p95 before"), &|it| p95(&it.before)),
            (time("p95 after"), &|it| p95(&it.after)),
            (count("errors before").spare(), &|it| failures(&it.before)),
            (count("errors after"), &|it| failures(&it.after)),
            (size("bytes before"), &|it| Cell::Bytes(it.before.bytes)),
            (size("bytes after"), &|it| Cell::Bytes(it.after.bytes)),
        ],
    )
}

const fn uses(group: &MessageGroup) -> Cell {
    Cell::Count(group.calls + group.signals)
}

const fn failures(group: &MessageGroup) -> Cell {
    match group.failures() {
        0 => Cell::Absent,
        count => Cell::Count(count),
    }
}

fn p95(group: &MessageGroup) -> Cell {
    let [p95] = cells(&mut group.durations.clone(), [|times| times.p95]);
    p95
}
