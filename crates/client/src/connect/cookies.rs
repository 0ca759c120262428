//! The user's cookies, for the mechanism `DBUS_COOKIE_SHA1`.

use std::fs;
use std::path::PathBuf;

use unix::filesystem::{Privacy, ensure_private_directory};
use unix::random;
use wire::sasl::client::Cookies;
use wire::sasl::cookie::{CHALLENGE_LEN, CookieContext, Keyring};

use super::standard;

/// The cookie directory in the user's home, and random bytes for one login.
pub(super) struct UserCookies {
    directory: PathBuf,
    random: [u8; CHALLENGE_LEN],
}

impl UserCookies {
    /// Finds the directory; `None` if it does not exist or is accessible to other users.
    pub(super) fn find() -> Option<Self> {
        let directory = PathBuf::from(standard::variable("HOME")?).join(".dbus-keyrings");
        // Checked first, because `ensure_private_directory` would create the directory.
        if !directory.is_dir() {
            return None;
        }
        let privacy = ensure_private_directory(&directory).ok()?;
        let mut random = [0; CHALLENGE_LEN];
        random::fill(&mut random).ok()?;
        (privacy == Privacy::Private).then_some(Self { directory, random })
    }
}

impl Cookies for UserCookies {
    fn secret(&mut self, context: &CookieContext, id: u32) -> Option<String> {
        let keyring = Keyring::parse(&fs::read(self.directory.join(context.as_str())).ok()?);
        keyring.find(id).map(|cookie| cookie.secret.clone())
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        self.random
    }
}
