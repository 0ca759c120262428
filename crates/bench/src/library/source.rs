//! The sources of the programs, and how each becomes one that runs.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Library;

/// How the program of a library comes about.
pub(super) enum Recipe {
    Ours,
    /// It is compiled, with what pkg-config knows of the package.
    C {
        source: File,
        package: &'static str,
        debian: &'static str,
    },
    /// It is interpreted. `version` is a program that prints the version of the library.
    Python {
        source: File,
        version: &'static str,
        remedy: Remedy,
    },
    Cargo,
}

/// How to get a library for Python.
#[derive(Clone, Copy)]
pub(super) enum Remedy {
    /// From the Debian packages of these names.
    Debian(&'static str),
    /// With pip, into a virtual environment of the cache.
    Pip(&'static str),
}

/// A file as it is put into the cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl Library {
    pub(super) const fn recipe(self) -> Recipe {
        match self {
            Self::Diligence => Recipe::Ours,
            Self::Libdbus => {
                Recipe::C { source: LIBDBUS, package: "dbus-1", debian: "libdbus-1-dev" }
            }
            Self::SdBus => {
                Recipe::C { source: SD_BUS, package: "libsystemd", debian: "libsystemd-dev" }
            }
            Self::GDBus => {
                Recipe::C { source: GDBUS, package: "gio-2.0", debian: "libglib2.0-dev" }
            }
            Self::DbusPython => Recipe::Python {
                source: DBUS_PYTHON,
                version: "import dbus.mainloop.glib; from gi.repository import GLib; \
                          print(dbus.__version__)",
                remedy: Remedy::Debian("python3-dbus python3-gi"),
            },
            Self::DbusFast => Recipe::Python {
                source: DBUS_FAST,
                version: "import dbus_fast.aio; from dbus_fast.__version__ import __version__; \
                          print(__version__)",
                remedy: Remedy::Pip("dbus-fast==5.2.0"),
            },
            Self::Zbus => Recipe::Cargo,
        }
    }
}

/// What tells programs apart that are made of other files.
pub(super) fn fingerprint(files: &[File]) -> u64 {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    hasher.finish()
}

macro_rules! file {
    ($name:literal) => {
        file!($name, $name)
    };
    ($name:literal, $path:literal) => {
        File { name: $name, text: include_str!(concat!("../../clients/", $path)) }
    };
}

const LIBDBUS: File = file!("libdbus.c");
const SD_BUS: File = file!("sd-bus.c");
const GDBUS: File = file!("gdbus.c");
const DBUS_PYTHON: File = file!("dbus-python.py");
const DBUS_FAST: File = file!("dbus-fast.py");

/// What the programs in C share.
pub(super) const C_SHARED: File = file!("bench.h");
/// What the programs in Python share.
pub(super) const PYTHON_SHARED: File = file!("bench.py");
pub(super) const ZBUS: [File; 3] = [
    file!("Cargo.toml", "zbus/Cargo.toml"),
    file!("Cargo.lock", "zbus/Cargo.lock"),
    file!("main.rs", "zbus/main.rs"),
];
/// What the package is called, and so the program.
pub(super) const ZBUS_PROGRAM: &str = "bench-zbus";
/// The version that the package is pinned to.
pub(super) const ZBUS_VERSION: &str = "6.2.1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zbus_is_what_its_package_says() {
        let [manifest, lock, _] = ZBUS;
        assert!(manifest.text.contains(&format!("\nzbus = \"={ZBUS_VERSION}\"\n")));
        assert!(lock.text.contains(&format!("name = \"zbus\"\nversion = \"{ZBUS_VERSION}\"\n")));
        assert!(manifest.text.contains(&format!("\nname = \"{ZBUS_PROGRAM}\"\n")));
    }

    #[test]
    fn another_text_is_another_program() {
        let file = |text| File { name: "a.c", text };
        assert_eq!(fingerprint(&[file("x")]), fingerprint(&[file("x")]));
        assert_ne!(fingerprint(&[file("x")]), fingerprint(&[file("y")]));
    }
}
