//! Services of a desktop session: settings (dconf), files (gvfs) and accessibility (at-spi2). The
//! bus activates all of them.

use std::fs;
use std::path::PathBuf;

use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, ScratchFolder, TestConfig, TestPeer,
    check_all, eventually, kind, require,
};

/// A session of a user with a new home folder.
struct DesktopSession {
    // The fields are dropped in this order: the bus before the folder that its services write to.
    bus: BusUnderTest,
    home: ScratchFolder,
}

impl DesktopSession {
    fn start() -> Self {
        let home = ScratchFolder::new();
        let runtime = home.folder("run", 0o700);
        let config = TestConfig::session().element("<standard_session_servicedirs/>");
        let bus = BusUnderTest::start_with(&config, |program| {
            program
                .env("HOME", home.path())
                .env("XDG_RUNTIME_DIR", &runtime)
                // The test environment cannot mount file systems.
                .env("GVFS_DISABLE_FUSE", "1")
        });
        Self { bus, home }
    }

    /// A program of this session; `{home}` in its arguments is replaced.
    fn program(&self, name: &str, args: &[&str]) -> ExternalProgram {
        let home = self.home.path().display().to_string();
        ExternalProgram::named(name, "libglib2.0-bin")
            .args(args.iter().map(|arg| arg.replace("{home}", &home)))
            .env("DBUS_SESSION_BUS_ADDRESS", self.bus.address())
            .env("GSETTINGS_BACKEND", "dconf")
            .env("GSETTINGS_SCHEMA_DIR", self.home.path())
            .env("GVFS_DISABLE_FUSE", "1")
            .env("HOME", self.home.path())
            .env("LC_ALL", "C.UTF-8")
            .env("XDG_RUNTIME_DIR", self.home.join("run"))
    }

    /// Runs a program that must succeed, and returns its output.
    fn ask(&self, program: &str, args: &[&str]) -> String {
        self.program(program, args).run().success().stdout
    }

    fn end(self) {
        self.bus.stop();
    }

    fn has(&self, name: &str) -> bool {
        self.bus.peer().ask_bus("NameHasOwner", name).body == [PlainValue::Bool(true)]
    }
}

/// A value that one program sets is signaled to another, and read by a third.
#[test]
fn changed_settings_of_dconf_reach_watchers_and_readers() {
    require("/usr/libexec/dconf-service", "dconf-service");
    let _ = of_library("gio/modules/libdconfsettings.so", "dconf-gsettings-backend");
    let compiler = of_library("glib-2.0/glib-compile-schemas", "libglib2.0-0");
    let session = DesktopSession::start();
    session.home.file("words.gschema.xml", SCHEMA);
    let _ = ExternalProgram::at(compiler).arg(session.home.path()).run().success();
    let gsettings = |verb: &str, value: &[&str]| {
        session.ask("gsettings", &[&[verb, "com.example.Words", "last"], value].concat())
    };

    let watcher = session.program("gsettings", &["monitor", "com.example.Words"]).start();
    eventually("the watcher to print a change", || {
        gsettings("set", &["aloud"]);
        // Setting a value to itself would emit no signal.
        gsettings("reset", &[]);
        watcher.stdout().contains("last: 'aloud'\n").then_some(())
    });
    gsettings("set", &["quietly"]);
    assert_eq!(gsettings("get", &[]), "'quietly'\n");
    assert!(session.has("ca.desrt.dconf"));
    assert!(session.home.join(".config/dconf/user").exists(), "the service has written it");
    session.end();
}

/// Commands for gvfs, in order, and a text that the output must contain.
const FILES: &[(&[&str], &str)] = &[
    (&["list", "computer:///"], "root.link\n"),
    (&["info", "trash:///"], "trash::item-count: 0\n"),
    (&["mount", "localtest:///"], ""),
    (&["mount", "--list"], "Mount(0): localtest -> localtest:///\n"),
    (&["list", "localtest://{home}/folder"], "file\n"),
    (&["cat", "localtest://{home}/folder/file"], "some words\n"),
    (&["copy", "localtest://{home}/folder/file", "localtest://{home}/folder/copy"], ""),
    (&["cat", "{home}/folder/copy"], "some words\n"),
    (&["mount", "--unmount", "localtest:///"], ""),
    (&["set", "{home}/folder/file", "metadata::note", "words"], ""),
    (&["info", "--attributes=metadata::*", "{home}/folder/file"], "metadata::note: words\n"),
];

/// One service activates others: each kind of location has its own process.
#[test]
fn gvfs_services_start_each_other() {
    require("/usr/libexec/gvfsd", "gvfs-daemons");
    let _ = of_library("gio/modules/libgvfsdbus.so", "gvfs");
    let session = DesktopSession::start();
    let folder = session.home.folder("folder", 0o700);
    fs::write(folder.join("file"), "some words\n").expect("scratch");
    check_all(
        FILES,
        |(args, _)| args.join(" "),
        |(args, says)| {
            let printed = session.ask("gio", args);
            assert!(printed.contains(says), "{printed}");
        },
    );
    for name in ["org.gtk.vfs.Daemon", "org.gtk.vfs.Metadata"] {
        assert!(session.has(name), "{name}");
    }
    session.end();
}

/// The service starts a separate bus for programs and screen readers.
#[test]
fn the_accessibility_bus_starts() {
    require("/usr/libexec/at-spi-bus-launcher", "at-spi2-core");
    let session = DesktopSession::start();
    let mut peer = session.bus.peer();
    let mut ask = |interface: &str, member: &str, args: &[PlainValue]| {
        let call = PlainMessage::call("org.a11y.Bus", "/org/a11y/bus", interface, member);
        let reply = peer.call(args.iter().cloned().fold(call, PlainMessage::arg));
        assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
        reply
    };
    let address = ask("org.a11y.Bus", "GetAddress", &[]);
    assert!(TestPeer::connect(address.first_text()).is_alive(), "{}", address.summary());

    let properties = "org.freedesktop.DBus.Properties";
    let enabled = ["org.a11y.Status", "IsEnabled"].map(PlainValue::text);
    let on = [PlainValue::variant(PlainValue::Bool(true))];
    ask(properties, "Set", &[&enabled[..], &on].concat());
    assert_eq!(ask(properties, "Get", &enabled).body, on);
    session.end();
}

/// The path of a file of a library, in the folder of this machine's architecture.
fn of_library(name: &str, package: &str) -> PathBuf {
    let folders = fs::read_dir("/usr/lib").expect("every system has it");
    let mut paths = folders.map(|entry| entry.expect("readable").path().join(name));
    let path = paths.find(|path| path.exists());
    path.unwrap_or_else(|| require(&format!("/usr/lib/*/{name}"), package).to_owned())
}

const SCHEMA: &str = "<schemalist><schema id='com.example.Words' path='/com/example/words/'>\
    <key name='last' type='s'><default>'none'</default></key></schema></schemalist>";
