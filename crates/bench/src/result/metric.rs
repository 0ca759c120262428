//! What can be measured, with its name, unit and direction.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that is measured. Its name in a file of results ends in its unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// From a call to its reply, the median.
    RoundTripUs,
    /// From a call to its reply, what 9 of 10 do not exceed.
    RoundTripP90Us,
    /// From a call to its reply, what 99 of 100 do not exceed.
    RoundTripP99Us,
    /// From a call to its reply, the longest.
    RoundTripMaxUs,
    /// Size of a call on the wire, header and body, as the callee receives it.
    CallBytes,
    /// Size of a reply on the wire, header and body, as the caller receives it.
    ReplyBytes,
    /// Bytes of payload that arrived in a second, at both ends together.
    MibPerS,
    /// Messages that arrived in a second.
    MessagesPerS,
    /// Calls that were answered in a second.
    CallsPerS,
    /// From the emission of a signal to its handler, the mean.
    DelayMeanUs,
    /// From the emission of a signal to its handler, what 99 of 100 do not exceed.
    DelayP99Us,
    /// Of the messages that were sent, the share that arrived.
    ReceivedPercent,
    /// Sends that could not be done in time.
    SendTimeouts,
    /// From the emission of the first signal to the last recipient's last.
    BurstUs,
    /// From the start of a connection to the answer to its Hello.
    ConnectUs,
    /// Taking a name and giving it up, both answered.
    NameCycleUs,
    /// Everything, from the first message to the last.
    TotalMs,
    /// Context switches of the bus, for each unit of work.
    BusSwitches,
    /// Context switches of the sender, for each unit of work.
    SenderSwitches,
    /// Context switches of all recipients together, for each unit of work.
    RecipientSwitches,
    /// System calls that write to a socket, of the sender, for each unit of work.
    SenderSends,
    /// System calls that read from a socket, of all recipients together, for each unit of work.
    RecipientReceives,
    /// System calls of the bus that write to a socket, for each unit of work.
    BusSends,
    /// System calls of the bus that read from a socket, for each unit of work.
    BusReceives,
    /// Copies of a message by the kernel, between the buffers of the sender, the bus and the recipients.
    KernelCopies,
    /// Copies of a message in the memory of the bus.
    BusCopies,
    /// Copies of a message on its way, by the model of libdbus and dbus-daemon.
    ModelCopies,
    /// Validations of the body of a message, by the bus and by recipients.
    Validations,
    /// The same by the model of libdbus and dbus-daemon.
    ModelValidations,
    /// Processor time of the bus, for each unit of work.
    BusCpuUs,
    /// Processor time of the client, for each unit of work.
    ClientCpuUs,
    /// Memory of the bus for each connection.
    BytesPerConnection,
    /// Memory of the bus for each match rule.
    BytesPerRule,
    /// The most memory that the bus occupied.
    BusPeakMib,
    /// By how much the same work takes longer while it is observed.
    AddedPercent,
    /// Processor time of the bus that is added to each message by observation.
    AddedBusNs,
    /// System calls of the bus, for each unit of work.
    BusSystemCalls,
    /// How often the bus is woken, for each unit of work.
    BusWakeUps,
    /// Processor time of the observer, for each message.
    WatcherCpuUs,
    /// The share of a processor that the observer needs to keep up.
    WatcherPercent,
    /// Messages that the observer missed.
    LostMessages,
}

/// What there is to know about a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricInfo {
    /// What it is, in a few words, without the unit: `round trip`.
    pub label: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Which of two figures is the better one.
    pub better: Better,
}

/// What a figure is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// 2^20 bytes in a second.
    MibPerSecond,
    /// 2^20 bytes.
    Mib,
    /// Events in a second.
    PerSecond,
    /// Hundredths.
    Percent,
    /// Pieces, in no unit.
    Count,
    /// Bytes.
    Bytes,
}

/// Which of two figures is the better one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// The lower.
    Lower,
    /// The higher.
    Higher,
}

impl Metric {
    /// What there is to know about it.
    #[must_use]
    pub const fn info(self) -> MetricInfo {
        use Better::{Higher, Lower};
        use Unit::{
            Bytes, Count, Mib, MibPerSecond, Microseconds, Milliseconds, Nanoseconds, PerSecond,
            Percent,
        };
        let (label, unit, better) = match self {
            Self::RoundTripUs => ("round trip", Microseconds, Lower),
            Self::RoundTripP90Us => ("round trip p90", Microseconds, Lower),
            Self::RoundTripP99Us => ("round trip p99", Microseconds, Lower),
            Self::RoundTripMaxUs => ("longest round trip", Microseconds, Lower),
            Self::CallBytes => ("call on the wire", Bytes, Lower),
            Self::ReplyBytes => ("reply on the wire", Bytes, Lower),
            Self::MibPerS => ("transfer rate", MibPerSecond, Higher),
            Self::MessagesPerS => ("messages", PerSecond, Higher),
            Self::CallsPerS => ("calls", PerSecond, Higher),
            Self::DelayMeanUs => ("mean delay", Microseconds, Lower),
            Self::DelayP99Us => ("delay p99", Microseconds, Lower),
            Self::ReceivedPercent => ("received", Percent, Higher),
            Self::SendTimeouts => ("send time-outs", Count, Lower),
            Self::BurstUs => ("emission to last receipt", Microseconds, Lower),
            Self::ConnectUs => ("connection set-up", Microseconds, Lower),
            Self::NameCycleUs => ("take and release a name", Microseconds, Lower),
            Self::TotalMs => ("in all", Milliseconds, Lower),
            Self::BusSwitches => ("switches of the bus", Count, Lower),
            Self::SenderSwitches => ("switches of the sender", Count, Lower),
            Self::RecipientSwitches => ("switches of the recipients", Count, Lower),
            Self::SenderSends => ("sends of the sender", Count, Lower),
            Self::RecipientReceives => ("receives of the recipients", Count, Lower),
            Self::BusSends => ("sends of the bus", Count, Lower),
            Self::BusReceives => ("receives of the bus", Count, Lower),
            Self::KernelCopies => ("copies by the kernel", Count, Lower),
            Self::BusCopies => ("copies in the bus", Count, Lower),
            Self::ModelCopies => ("copies, by the model", Count, Lower),
            Self::Validations => ("validations", Count, Lower),
            Self::ModelValidations => ("validations, by the model", Count, Lower),
            Self::BusCpuUs => ("processor time of the bus", Microseconds, Lower),
            Self::ClientCpuUs => ("processor time of the client", Microseconds, Lower),
            Self::BytesPerConnection => ("bus memory a connection", Bytes, Lower),
            Self::BytesPerRule => ("bus memory a rule", Bytes, Lower),
            Self::BusPeakMib => ("most memory of the bus", Mib, Lower),
            Self::AddedPercent => ("added time", Percent, Lower),
            Self::AddedBusNs => ("added to the bus a message", Nanoseconds, Lower),
            Self::BusSystemCalls => ("system calls of the bus", Count, Lower),
            Self::BusWakeUps => ("wake-ups of the bus", Count, Lower),
            Self::WatcherCpuUs => ("time of the observer, a message", Microseconds, Lower),
            Self::WatcherPercent => ("processor of the observer", Percent, Lower),
            Self::LostMessages => ("lost messages", Count, Lower),
        };
        MetricInfo { label, unit, better }
    }
}

impl Unit {
    /// The sign behind a number, empty for a count.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::MibPerSecond => "MiB/s",
            Self::Mib => "MiB",
            Self::PerSecond => "/s",
            Self::Percent => "%",
            Self::Count => "",
            Self::Bytes => "B",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}
