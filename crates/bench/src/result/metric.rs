//! Metrics, with their name, unit and direction.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Defines all metrics: the variant, then its label, its unit and which of two figures is better.
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident: $label:literal, $unit:ident, $better:ident;)*) => {
        /// A metric. Its name in a file of results ends in its unit.
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
    /// Time from a call to its reply, median.
    RoundTripUs: "round trip", Microseconds, Lower;
    /// Time from a call to its reply, 90th percentile.
    RoundTripP90Us: "round trip p90", Microseconds, Lower;
    /// Time from a call to its reply, 99th percentile.
    RoundTripP99Us: "round trip p99", Microseconds, Lower;
    /// Time from a call to its reply, maximum.
    RoundTripMaxUs: "longest round trip", Microseconds, Lower;
    /// Size of a call on the wire, header and body, as the callee receives it.
    CallBytes: "call on the wire", Bytes, Lower;
    /// Size of a reply on the wire, header and body, as the caller receives it.
    ReplyBytes: "reply on the wire", Bytes, Lower;
    /// Bytes of payload received per second, by both ends together.
    MibPerS: "transfer rate", MibPerSecond, Higher;
    /// Messages received per second.
    MessagesPerS: "messages", PerSecond, Higher;
    /// Calls answered per second.
    CallsPerS: "calls", PerSecond, Higher;
    /// Time from the emission of a signal to its handler, mean.
    DelayMeanUs: "mean delay", Microseconds, Lower;
    /// Time from the emission of a signal to its handler, 99th percentile.
    DelayP99Us: "delay p99", Microseconds, Lower;
    /// The share of sent messages that arrived.
    ReceivedPercent: "received", Percent, Higher;
    /// Sends that timed out because the socket stayed full.
    SendTimeouts: "send timeouts", Count, Lower;
    /// Time from the emission of the first signal until the last recipient has received the last
    /// signal.
    BurstUs: "emission to last receipt", Microseconds, Lower;
    /// Time from the start of a connection to the reply to its Hello.
    ConnectUs: "connection set-up", Microseconds, Lower;
    /// Time to request and release a name, including both replies.
    NameCycleUs: "take and release a name", Microseconds, Lower;
    /// Time from the first message to the last.
    TotalMs: "total time", Milliseconds, Lower;
    /// Time from a call to its reply, maximum, while the program of the bus is replaced.
    LongestCallMs: "longest call", Milliseconds, Lower;
    /// Time from the request to replace the program of the bus to the reply.
    ReplacementMs: "replacement", Milliseconds, Lower;
    /// Context switches of all processes that take part, per unit of work.
    Switches: "context switches", Count, Lower;
    /// Context switches of the bus, per unit of work.
    BusSwitches: "bus context switches", Count, Lower;
    /// Context switches of the sender, per unit of work.
    SenderSwitches: "sender context switches", Count, Lower;
    /// Context switches of all recipients together, per unit of work.
    RecipientSwitches: "recipient context switches", Count, Lower;
    /// System calls of the sender that write to a socket, per unit of work.
    SenderSends: "sender send calls", Count, Lower;
    /// System calls of all recipients together that read from a socket, per unit of work.
    RecipientReceives: "recipient receive calls", Count, Lower;
    /// System calls of the bus that write to a socket, per unit of work.
    BusSends: "bus send calls", Count, Lower;
    /// System calls of the bus that read from a socket, per unit of work.
    BusReceives: "bus receive calls", Count, Lower;
    /// Copies of a message by the kernel, between the buffers of the sender, the bus and the
    /// recipients.
    KernelCopies: "copies by the kernel", Count, Lower;
    /// Copies of a message in the memory of the bus.
    BusCopies: "copies in the bus", Count, Lower;
    /// Copies of a message on its way, according to the model of libdbus and dbus-daemon.
    ModelCopies: "copies (model)", Count, Lower;
    /// Validations of the body of a message, by the bus and by recipients.
    Validations: "validations", Count, Lower;
    /// Validations of the body of a message, according to the model of libdbus and dbus-daemon.
    ModelValidations: "validations (model)", Count, Lower;
    /// Processor time of the bus, per unit of work.
    BusCpuUs: "bus CPU time", Microseconds, Lower;
    /// Processor time of the proxy between the client and the bus, per unit of work.
    ProxyCpuUs: "proxy CPU time", Microseconds, Lower;
    /// Time that a library adds to a call and its reply, compared with calls without a library that
    /// are made in turns with it.
    LibraryUs: "added by the library", Microseconds, Lower;
    /// Time from a call to its reply, as a multiple of the time on a socket between two programs
    /// without a library, which call in turns with it.
    ToSocket: "times a bare socket", Count, Lower;
    /// Processor time of the client, per unit of work.
    ClientCpuUs: "client CPU time", Microseconds, Lower;
    /// Memory of the bus, per connection.
    BytesPerConnection: "bus memory per connection", Bytes, Lower;
    /// Memory of the bus, per match rule.
    BytesPerRule: "bus memory per rule", Bytes, Lower;
    /// Peak memory of the bus.
    BusPeakMib: "peak memory of the bus", Mib, Lower;
    /// Additional time that the same work takes during observation.
    AddedPercent: "added time", Percent, Lower;
    /// Additional processor time of the bus per message during observation.
    AddedBusNs: "added bus time per message", Nanoseconds, Lower;
    /// System calls of the bus, per unit of work.
    BusSystemCalls: "bus system calls", Count, Lower;
    /// Wake-ups of the bus, per unit of work.
    BusWakeUps: "bus wake-ups", Count, Lower;
    /// Processor time of the observer, per message.
    WatcherCpuUs: "observer time per message", Microseconds, Lower;
    /// The share of a processor that the observer needs to keep up.
    WatcherPercent: "observer CPU share", Percent, Lower;
    /// Messages that the observer missed.
    LostMessages: "lost messages", Count, Lower;
}

/// The properties of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricInfo {
    /// A short name without the unit: `round trip`.
    pub label: &'static str,
    /// The unit of its figures.
    pub unit: MetricUnit,
    /// The direction in which figures are better.
    pub better: Better,
}

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricUnit {
    /// Time in nanoseconds (`ns`).
    Nanoseconds,
    /// Time in microseconds (`µs`).
    Microseconds,
    /// Time in milliseconds (`ms`).
    Milliseconds,
    /// Rate in units of 2^20 bytes per second.
    MibPerSecond,
    /// Size in units of 2^20 bytes.
    Mib,
    /// Events per second (`/s`).
    PerSecond,
    /// Share in percent (`%`).
    Percent,
    /// Number without a unit.
    Count,
    /// Size in bytes (`B`).
    Bytes,
}

/// The direction in which figures are better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Lower figures are better.
    Lower,
    /// Higher figures are better.
    Higher,
}

impl MetricUnit {
    /// The unit symbol after a number, empty for a count.
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
