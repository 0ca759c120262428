//! Texts that show the user how to use the bus.

use capture::show::shell_word;
use viewer::PageServer;
use wire::address::AddressList;

/// Texts that show the user how to use the bus.
#[derive(Debug)]
pub(super) struct Hints {
    /// The address of the bus.
    pub(super) address: String,
    /// The server of the page for browsers; `None` if it could not be started.
    pub(super) page: Option<PageServer>,
    /// The address of the page that was printed at the start. A browser may have used it already.
    pub(super) printed_link: Option<String>,
    /// An example command for a shell.
    pub(super) example: &'static str,
}

impl Hints {
    /// The current address of the page, which works once.
    pub(super) fn link(&self) -> Option<String> {
        self.page.as_ref().map(PageServer::address)
    }
}

/// The shell command that makes programs use the bus as their session bus.
pub(super) fn export_line(address: &str) -> String {
    format!("export DBUS_SESSION_BUS_ADDRESS={}", shell_word(address))
}

/// The address without its GUID, which is easier to read and connects as well.
pub(super) fn short_address(address: &str) -> String {
    let Ok(list) = address.parse::<AddressList>() else { return address.to_owned() };
    let entries = list.entries().iter().map(|entry| {
        let mut entry = entry.clone();
        entry.guid = None;
        entry.to_string()
    });
    entries.collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_quoted_for_the_shell() {
        for (word, expected) in [
            ("unix:path=/run/user/0/bus", "unix:path=/run/user/0/bus"),
            ("unix:path=/run/a%20b,guid=12", "unix:path=/run/a%20b,guid=12"),
            ("unix:path=/a;unix:path=/b", "'unix:path=/a;unix:path=/b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            let line = format!("export DBUS_SESSION_BUS_ADDRESS={expected}");
            assert_eq!(export_line(word), line);
        }
    }

    #[test]
    fn short_addresses_have_no_guid() {
        let guid = "0123456789abcdef0123456789abcdef";
        for (address, expected) in [
            (format!("unix:path=/run/a%20b,guid={guid}"), "unix:path=/run/a%20b"),
            (format!("unix:path=/a,guid={guid};tcp:port=1"), "unix:path=/a;tcp:port=1"),
            ("nonsense".into(), "nonsense"),
        ] {
            assert_eq!(short_address(&address), expected);
        }
    }
}
