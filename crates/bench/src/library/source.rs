//! The sources of the library programs, and how each is built.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Library;
use super::ours::FrontEnd;

/// The way to build the program of a library.
pub(super) enum Recipe {
    Ours(FrontEnd),
    /// The program is compiled, with the flags that pkg-config reports for the package.
    C {
        source: File,
        package: &'static str,
        debian: &'static str,
    },
    /// The program is interpreted. `version` is a program that prints the version of the library.
    Python {
        source: File,
        version: &'static str,
        remedy: Remedy,
    },
    Cargo,
}

/// The way to install a Python library.
#[derive(Clone, Copy)]
pub(super) enum Remedy {
    /// Install the Debian packages with these names.
    Debian(&'static str),
    /// Install with pip, in a virtual environment in the cache.
    Pip(&'static str),
}

/// A source file that is written to the cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

impl Library {
    pub(super) const fn recipe(self) -> Recipe {
        match self {
            Self::Diligence => Recipe::Ours(FrontEnd::Blocking),
            Self::DiligenceAsync => Recipe::Ours(FrontEnd::Asynchronous),
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

/// Computes a hash of the source files, so that programs of different sources have different names.
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

/// The code shared by the C programs.
pub(super) const C_SHARED: File = file!("bench.h");
/// The code shared by the Python programs.
pub(super) const PYTHON_SHARED: File = file!("bench.py");
pub(super) const ZBUS: [File; 3] = [
    file!("Cargo.toml", "zbus/Cargo.toml"),
    file!("Cargo.lock", "zbus/Cargo.lock"),
    file!("main.rs", "zbus/main.rs"),
];
/// The name of the package and of the program.
pub(super) const ZBUS_PROGRAM: &str = "bench-zbus";
/// The pinned version of the package.
pub(super) const ZBUS_VERSION: &str = "6.2.1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zbus_version_matches_its_package() {
        let [manifest, lock, _] = ZBUS;
        assert!(manifest.text.contains(&format!("\nzbus = \"={ZBUS_VERSION}\"\n")));
        assert!(lock.text.contains(&format!("name = \"zbus\"\nversion = \"{ZBUS_VERSION}\"\n")));
        assert!(manifest.text.contains(&format!("\nname = \"{ZBUS_PROGRAM}\"\n")));
    }

    #[test]
    fn fingerprints_differ_for_different_sources() {
        let file = |text| File { name: "a.c", text };
        assert_eq!(fingerprint(&[file("x")]), fingerprint(&[file("x")]));
        assert_ne!(fingerprint(&[file("x")]), fingerprint(&[file("y")]));
    }
}
