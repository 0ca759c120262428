//! Opens the page in the user's browser without showing its address to other users.
//!
//! Every user can read the command lines of all processes, and the command line of a browser
//! contains the address that it opens. Therefore the browser gets the path of a file that only its
//! owner can read and that redirects to the page.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};

use sys::private_directory::PrivateDirectory;

/// The file that redirects a browser to the page. It is removed after the page has been opened, at
/// the latest when all copies of this value are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct RedirectFile(Arc<Mutex<Option<PrivateDirectory>>>);

impl RedirectFile {
    /// Writes the file and opens it in the user's browser.
    pub(crate) fn open_browser(&self, address: &str) -> io::Result<()> {
        let directory = PrivateDirectory::new("diligence-page-")?;
        let path = directory.path().join("page.html");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(redirect(address).as_bytes())?;
        self.replace(Some(directory));
        open::that_detached(&path).inspect_err(|_| self.remove())
    }

    /// Removes the file, if it exists.
    pub(crate) fn remove(&self) {
        self.replace(None);
    }

    fn replace(&self, directory: Option<PrivateDirectory>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }
}

/// An HTML document that redirects to an address.
pub(crate) fn redirect(address: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\">\n<title>Diligence</title>\n\
         <p><a href=\"{address}\">Open the page</a></p>\n</html>\n"
    )
}
