//! The user that the bus switches to when it no longer needs root: `<user>` in the configuration.

use sys::filesystem::FileOwner;
use sys::privileges::{PrivilegeIdentity, switch_to};
use sys::users::UserAccount;

use super::StartError;
use super::error::StartupStep;

/// A user from the account database, with the group ids that a switch needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DaemonUser {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
}

impl DaemonUser {
    /// Finds a user by name, or by number if no user has that name.
    pub(super) fn find(name: &str) -> Result<Self, StartError> {
        let failed = StartError::at(StartupStep::LookUpUser);
        let found = match (UserAccount::by_name(name).map_err(&failed)?, name.parse()) {
            (None, Ok(uid)) => UserAccount::by_id(uid).map_err(&failed)?,
            (by_name, _) => by_name,
        };
        let user = found.ok_or_else(|| StartError::UnknownUser(name.to_owned()))?;
        let groups = user.groups().map_err(&failed)?;
        Ok(Self { uid: user.uid(), gid: user.gid(), groups })
    }

    /// The owner that files are handed over to.
    pub(super) const fn owner(&self) -> FileOwner {
        FileOwner { uid: self.uid, gid: self.gid }
    }

    /// Switches to that user, which requires root. A bus that was not started as root keeps its
    /// user.
    pub(super) fn take_over(&self) -> Result<(), StartError> {
        let Self { uid, gid, groups } = self;
        switch_to(PrivilegeIdentity { uid: *uid, gid: *gid, groups })
            .map_err(StartError::at(StartupStep::SwitchUser))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_by_number() {
        let root = DaemonUser::find("root").unwrap();
        assert_eq!((root.uid, root.gid), (0, 0));
        assert_eq!(DaemonUser::find("0"), Ok(root));
        for unknown in ["no-such-user", "4294967294", "-1", ""] {
            let expected = Err(StartError::UnknownUser(unknown.to_owned()));
            assert_eq!(DaemonUser::find(unknown), expected);
        }
    }
}
