//! The security modules of the kernel that the bus supports.

/// A security module of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MediatorKind {
    /// AppArmor, which confines programs by profiles.
    AppArmor,
    /// SELinux, which mediates by security contexts.
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
