//! What can be measured, with its name, unit and direction.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines all metrics: the variant, then its label, its unit and which of two figures is better.
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident: $label:literal, $unit:ident, $better:ident;)*) => {
        /// Something that is measured. Its name in a file of results ends in its unit.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Metric {
            $($(#[$doc])* $metric,)*
        }

        impl Metric {
            /// The label, the unit and the direction of the metric.
            #[must_use]
            pub const fn info(self) -> MetricInfo {
                let (label, unit, better) = match self {
                    $(Self::$metric => ($label, MetricUnit::$unit, Better::$better),)*
                };
                MetricInfo { label, unit, better }
            }
        }
    };
}

metrics! {
    /// From a call to its reply, the median.
    RoundTripUs: "round trip", Microseconds, Lower;
    /// From a call to its reply, what 9 of 10 do not exceed.
    RoundTripP90Us: "round trip p90", Microseconds, Lower;
    /// From a call to its reply, what 99 of 100 do not exceed.
    RoundTripP99Us: "round trip p99", Microseconds, Lower;
    /// From a call to its reply, the longest.
    RoundTripMaxUs: "longest round trip", Microseconds, Lower;
    /// Size of a call on the wire, header and body, as the callee receives it.
    CallBytes: "call on the wire", Bytes, Lower;
    /// Size of a reply on the wire, header and body, as the caller receives it.
    ReplyBytes: "reply on the wire", Bytes, Lower;
    /// Bytes of payload that arrived in a second, at both ends together.
    MibPerS: "transfer rate", MibPerSecond, Higher;
    /// Messages that arrived in a second.
    MessagesPerS: "messages", PerSecond, Higher;
    /// Calls that were answered in a second.
    CallsPerS: "calls", PerSecond, Higher;
    /// From the emission of a signal to its handler, the mean.
    DelayMeanUs: "mean delay", Microseconds, Lower;
    /// From the emission of a signal to its handler, what 99 of 100 do not exceed.
    DelayP99Us: "delay p99", Microseconds, Lower;
    /// Of the messages that were sent, the share that arrived.
    ReceivedPercent: "received", Percent, Higher;
    /// Sends that could not be done in time.
    SendTimeouts: "send timeouts", Count, Lower;
    /// From the emission of the first signal to the last recipient's last.
    BurstUs: "emission to last receipt", Microseconds, Lower;
    /// From the start of a connection to the answer to its Hello.
    ConnectUs: "connection set-up", Microseconds, Lower;
    /// Taking a name and giving it up, both answered.
    NameCycleUs: "take and release a name", Microseconds, Lower;
    /// Everything, from the first message to the last.
    TotalMs: "total time", Milliseconds, Lower;
    /// Context switches of the bus, for each unit of work.
    BusSwitches: "bus context switches", Count, Lower;
    /// Context switches of the sender, for each unit of work.
    SenderSwitches: "sender context switches", Count, Lower;
    /// Context switches of all recipients together, for each unit of work.
    RecipientSwitches: "recipient context switches", Count, Lower;
    /// System calls that write to a socket, of the sender, for each unit of work.
    SenderSends: "sender send calls", Count, Lower;
    /// System calls that read from a socket, of all recipients together, for each unit of work.
    RecipientReceives: "recipient receive calls", Count, Lower;
    /// System calls of the bus that write to a socket, for each unit of work.
    BusSends: "bus send calls", Count, Lower;
    /// System calls of the bus that read from a socket, for each unit of work.
    BusReceives: "bus receive calls", Count, Lower;
    /// Copies of a message by the kernel, between the buffers of the sender, the bus and the recipients.
    KernelCopies: "copies by the kernel", Count, Lower;
    /// Copies of a message in the memory of the bus.
    BusCopies: "copies in the bus", Count, Lower;
    /// Copies of a message on its way, by the model of libdbus and dbus-daemon.
    ModelCopies: "copies (model)", Count, Lower;
    /// Validations of the body of a message, by the bus and by recipients.
    Validations: "validations", Count, Lower;
    /// The same by the model of libdbus and dbus-daemon.
    ModelValidations: "validations (model)", Count, Lower;
    /// Processor time of the bus, for each unit of work.
    BusCpuUs: "bus CPU time", Microseconds, Lower;
    /// Processor time of the client, for each unit of work.
    ClientCpuUs: "client CPU time", Microseconds, Lower;
    /// Memory of the bus for each connection.
    BytesPerConnection: "bus memory per connection", Bytes, Lower;
    /// Memory of the bus for each match rule.
    BytesPerRule: "bus memory per rule", Bytes, Lower;
    /// The most memory that the bus occupied.
    BusPeakMib: "peak memory of the bus", Mib, Lower;
    /// By how much the same work takes longer while it is observed.
    AddedPercent: "added time", Percent, Lower;
    /// Processor time of the bus that is added to each message by observation.
    AddedBusNs: "added bus time per message", Nanoseconds, Lower;
    /// System calls of the bus, for each unit of work.
    BusSystemCalls: "bus system calls", Count, Lower;
    /// How often the bus is woken, for each unit of work.
    BusWakeUps: "bus wake-ups", Count, Lower;
    /// Processor time of the observer, for each message.
    WatcherCpuUs: "observer time per message", Microseconds, Lower;
    /// The share of a processor that the observer needs to keep up.
    WatcherPercent: "observer CPU share", Percent, Lower;
    /// Messages that the observer missed.
    LostMessages: "lost messages", Count, Lower;
}

/// What there is to know about a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricInfo {
    /// What it is, in a few words, without the unit: `round trip`.
    pub label: &'static str,
    /// What it is counted in.
    pub unit: MetricUnit,
    /// Which of two figures is the better one.
    pub better: Better,
}

/// What a figure is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricUnit {
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

impl MetricUnit {
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

impl fmt::Display for MetricUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}
