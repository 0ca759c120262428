//! Reasons why the kernel does not accept a message.

/// The resource that the kernel lacks to accept a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelShortage {
    /// The user of the bus has more descriptors in flight in sockets than it may have open files.
    Descriptors,
    /// The kernel is out of memory.
    Memory,
    /// The message is longer than the socket allows.
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

    /// The shortage as a clause of a sentence.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Descriptors => {
                "too many file descriptors are in sockets whose peers do not read them"
            }
            Self::Memory => "the kernel has no memory for it",
            Self::Size => "it is longer than the socket takes",
        }
    }
}
