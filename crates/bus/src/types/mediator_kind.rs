//! The security modules of the kernel that the bus knows.

/// A security module of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MediatorKind {
    /// AppArmor.
    AppArmor,
    /// SELinux.
    Selinux,
}

impl MediatorKind {
    /// The name of the module, which is also the name of the feature of the bus.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AppArmor => "AppArmor",
            Self::Selinux => "SELinux",
        }
    }
}
