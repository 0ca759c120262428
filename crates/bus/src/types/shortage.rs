//! Why the kernel does not take a message.

/// What the kernel lacks to take a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelShortage {
    /// The user of the bus has more descriptors in sockets that nobody has received than it may have
    /// open files.
    Descriptors,
    /// Memory.
    Memory,
    /// The message is longer than the socket takes.
    Size,
}

impl KernelShortage {
    /// The shortage in one word, under which it is counted.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors-in-flight",
            Self::Memory => "kernel-memory",
            Self::Size => "kernel-message-size",
        }
    }

    /// The shortage as a clause.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Descriptors => "too many file descriptors are in sockets that nobody reads",
            Self::Memory => "the kernel has no memory for it",
            Self::Size => "it is longer than the socket takes",
        }
    }
}
