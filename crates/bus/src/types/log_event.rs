//! What an administrator should know.

use alloc::boxed::Box;
use alloc::string::String;

use super::{ActivationMethod, LimitHit, PeerId, Shortage, StartId, StartProblem};

/// What keeps a message from somebody without anybody being told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithheldBy {
    /// Its sender may not send it there.
    SendPolicy,
    /// Its recipient may not receive it.
    ReceivePolicy,
    /// AppArmor does not let it pass.
    AppArmor,
    /// SELinux does not let it pass.
    Selinux,
}

impl WithheldBy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::SendPolicy, Self::ReceivePolicy, Self::AppArmor, Self::Selinux];

    /// It in one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SendPolicy => "send-policy",
            Self::ReceivePolicy => "receive-policy",
            Self::AppArmor => "apparmor",
            Self::Selinux => "selinux",
        }
    }
}

/// What the administrator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogEvent {
    /// A connection has become a monitor and sees everything from now on.
    BecameMonitor {
        /// The connection.
        peer: PeerId,
    },
    /// A connection has got the ring of a trace and sees everything that goes there.
    Traces {
        /// The connection.
        peer: PeerId,
    },
    /// A connection does not keep up: signals, copies and what the bus says to it are lost from now
    /// on. Reported once until it has caught up.
    LosingSignals {
        /// Who does not read.
        peer: PeerId,
        /// Whose message was the first to be lost; `None` for the bus itself.
        sender: Option<PeerId>,
        /// The limit of what may wait for it, and how much does.
        reached: LimitHit,
    },
    /// The kernel did not take a message; it was dropped.
    Undelivered {
        /// The connection that did not get it.
        peer: PeerId,
        /// The connection that sent it; `None` for the bus itself.
        sender: Option<PeerId>,
        /// What the kernel lacks.
        shortage: Shortage,
    },
    /// A connection that lost messages has caught up.
    CaughtUp {
        /// Who reads again.
        peer: PeerId,
        /// Messages that it has lost.
        lost: u64,
    },
    /// A service is being started.
    Starting {
        /// Its name.
        name: Box<str>,
        /// Whom it comes from.
        method: ActivationMethod,
        /// Who wants it.
        asker: PeerId,
    },
    /// A service that was being started has its name.
    Started {
        /// Its name.
        name: Box<str>,
    },
    /// A service did not start; those who waited for it were told.
    StartFailed {
        /// Which start.
        start: StartId,
        /// Its name.
        name: Box<str>,
        /// What went wrong.
        problem: StartProblem,
        /// What those who waited were told.
        why: String,
    },
    /// A message was refused because of a limit or a lack of rights, and its sender was told.
    Refused {
        /// Whose message.
        peer: PeerId,
        /// Why, in one word: the name of the limit, or of the error.
        cause: &'static str,
        /// Why, as the sender was told.
        why: String,
        /// The limit that was reached, if it was one.
        reached: Option<LimitHit>,
        /// Who uses so much of it, if it was not the sender: who does not read.
        blamed: Option<PeerId>,
    },
    /// The policy has kept a message from a connection, and nobody was told: it was a copy of a
    /// broadcast or of what is for others, or the bus itself has sent it. Reported once for each
    /// connection.
    Withheld {
        /// Whose message; `None` for the bus itself.
        sender: Option<PeerId>,
        /// Who did not get it.
        peer: PeerId,
        /// What kept it from him.
        by: WithheldBy,
        /// Why.
        why: String,
    },
    /// A message was passed on by a rule that wants to be heard of.
    Allowed {
        /// Whose message.
        peer: PeerId,
        /// Which.
        what: String,
    },
}
