//! Starting the user's browser without showing the address of the page to other users.
//!
//! Command lines can be read by every user, and a browser has what it opens in its command line. So the
//! browser is given the path of a file that only its owner can read, which leads to the page.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};

use sys::private_directory::PrivateDirectory;

/// The file that leads a browser to the page. It is removed when the page has been opened, and at the
/// latest when all copies of this are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct RedirectFile(Arc<Mutex<Option<PrivateDirectory>>>);

impl RedirectFile {
    /// Writes the file and opens the user's browser with it.
    pub(crate) fn open_browser(&self, address: &str) -> io::Result<()> {
        let directory = PrivateDirectory::new("diligence-page-")?;
        let path = directory.path().join("page.html");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(redirect(address).as_bytes())?;
        self.replace(Some(directory));
        open::that_detached(&path).inspect_err(|_| self.remove())
    }

    /// Removes the file, if there is one.
    pub(crate) fn remove(&self) {
        self.replace(None);
    }

    fn replace(&self, directory: Option<PrivateDirectory>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }
}

/// A document that leads to an address.
pub(crate) fn redirect(address: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n<title>Diligence</title>\n\
         <p><a href=\"{address}\">Open the page</a></p>\n</html>\n"
    )
}
