//! Configuration files: their meaning, their errors, and the compiled settings.

mod elements;
mod enforced;
mod includes;
mod own;
mod reference;
mod rules;

use std::fs;
use std::path::PathBuf;

use broker::busconfig::{
    self, Accounts, Config, ConfigError, Document, Environment, SecurityModule,
};
use tempfile::TempDir;

/// A directory with files, removed on drop.
struct ConfigFiles {
    root: TempDir,
}

impl ConfigFiles {
    fn new() -> Self {
        Self { root: TempDir::new().expect("the temporary folder is writable") }
    }

    /// Creates the file `main.conf`, with these elements from its second line on.
    fn with_main(elements: &str) -> Self {
        Self::new().add("main.conf", wrap(elements))
    }

    fn add(self, file: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a file in the root")).expect("directories");
        fs::write(path, text).expect("a new file");
        self
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.path().join(file)
    }

    fn read(&self, environment: &Environment<'_>) -> Result<Document, ConfigError> {
        Document::read(&self.path("main.conf"), environment)
    }

    fn load(&self, environment: &Environment<'_>) -> Result<Config, ConfigError> {
        busconfig::load(&self.path("main.conf"), environment)
    }

    /// Removes the path of this directory from a text.
    fn shorten(&self, text: impl ToString) -> String {
        text.to_string().replace(&format!("{}/", self.root.path().display()), "")
    }
}

fn wrap(elements: &str) -> String {
    format!("<busconfig>\n{elements}\n</busconfig>\n")
}

/// A system with four accounts and no security module.
fn environment() -> Environment<'static> {
    Environment {
        accounts: &FourAccounts,
        selinux: SecurityModule::Inactive,
        selinux_root: PathBuf::from("/no/selinux"),
        app_armor: SecurityModule::Inactive,
    }
}

struct FourAccounts;

impl Accounts for FourAccounts {
    fn user_id(&self, user: &str) -> Option<u32> {
        match user {
            "root" | "0" => Some(0),
            "alice" => Some(1000),
            _ => None,
        }
    }

    fn group_id(&self, group: &str) -> Option<u32> {
        match group {
            "bin" => Some(2),
            "staff" => Some(50),
            _ => None,
        }
    }
}

/// Checks that a `main.conf` with these elements is rejected with this line, or accepted if `None`.
fn check_refusal(elements: &str, expected: Option<&str>) {
    let files = ConfigFiles::with_main(elements);
    let refusal = files.read(&environment()).err().map(|error| files.shorten(error));
    let expected = expected.map(|line| format!("main.conf:{line}"));
    assert_eq!(refusal, expected, "{elements}");
}
