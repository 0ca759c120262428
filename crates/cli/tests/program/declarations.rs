//! Compares `diligence introspect --format=gdbus`, `--recurse` and `--only-properties` with gdbus.

use std::process::{Command, Output};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use client::{Connection, NameFlags};

use crate::everything::{EVERYTHING, OBJECT, ServiceFault, serve};
use crate::recorder::OurBus;
use crate::support::{ProgramFolder, text};

struct DeclaredService {
    folder: ProgramFolder,
    bus: OurBus,
}

impl DeclaredService {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let bus = OurBus::start(&folder);
        Self { folder, bus }
    }

    fn diligence(&self, words: &[&str]) -> Output {
        let mut command = self.folder.diligence();
        command.arg("introspect").args(words).args(["--address", &self.bus.address]);
        command.env("LC_ALL", "C.UTF-8").output().expect("the program exists")
    }

    fn stdout_of(&self, words: &[&str]) -> String {
        let output = self.diligence(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn gdbus(&self, words: &[&str]) -> String {
        let mut command = Command::new("gdbus");
        command.args(["introspect", "--address", &self.bus.address]).args(words);
        let output = command.env("LC_ALL", "C.UTF-8").output().expect("gdbus is installed");
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Checks that diligence and gdbus print the same object: in full, its properties, and as XML.
    fn assert_same(&self, name: &str, path: &str) {
        let object = ["--dest", name, "--object-path", path];
        for (options, format) in [
            (&[][..], &["--format=gdbus"][..]),
            (&["--only-properties"], &[]),
            (&["--recurse"], &[]),
            (&["--recurse", "--only-properties"], &[]),
            (&["--xml"], &[]),
        ] {
            let words = [&object[..], options].concat();
            let expected = self.gdbus(&words);
            assert_ne!(expected, "");
            // The same object in the arguments of gdbus, and in the arguments of busctl.
            assert_eq!(self.stdout_of(&[&words, format].concat()), expected, "{words:?}");
            let words = [&[name, path][..], options, format].concat();
            assert_eq!(self.stdout_of(&words), expected, "{words:?}");
        }
    }
}

#[test]
fn declarations_match_gdbus() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Everything", ServiceFault::None);
    stage.assert_same("com.example.Everything", OBJECT);
    stage.assert_same("com.example.Everything", "/com");
    stage.assert_same("org.freedesktop.DBus", "/");
    stage.assert_same("org.freedesktop.DBus", "/org/freedesktop/DBus");
}

/// Annotations of members and arguments, and objects within introspection data.
#[test]
fn annotations_and_nested_objects_match_gdbus() {
    let stage = DeclaredService::new();
    let (address, asked) = (&stage.bus.address, Arc::default());
    serve_document(address, NESTED, &asked);
    stage.assert_same(NAME, "/");
}

#[test]
fn unreadable_objects_are_reported_on_standard_error() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Broken", ServiceFault::Broken);
    let words = ["com.example.Broken", "/", "--recurse", "--only-properties"];
    let output = stage.diligence(&words);
    assert!(output.status.success());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stdout.contains("      readonly d Double;\n"), "{stdout}");
    assert!(stdout.contains("      readonly t LongU = 18446744073709551615;\n"), "{stdout}");
    for expected in [
        "diligence introspect: /odd of com.example.Broken: com.example.Error.Refused: not for you\n",
        "diligence introspect: com.example.Everything1.Double of /com/example/Everything: \
         com.example.Error.Refused: it is broken\n",
    ] {
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn objects_below_are_printed_as_json_and_tables() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Everything", ServiceFault::None);
    let name = "com.example.Everything";
    let json = stage.stdout_of(&[name, "/", "--recurse", "--only-properties", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let paths: Vec<_> = json.as_array().expect("objects").iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["/", "/com", "/com/example", OBJECT, &format!("{OBJECT}/below")]);
    assert_eq!(json[3]["interfaces"].as_array().map(Vec::len), Some(1), "one has properties");
    let tables =
        stage.stdout_of(&[name, "/com/example", EVERYTHING, "--recurse", "--format=busctl"]);
    assert!(tables.contains(&format!("\nObject {OBJECT}:\nNAME ")), "{tables}");
    let refused = stage.diligence(&[name, "/com/example", "com.example.Nothing1", "--recurse"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no interface com.example.Nothing1"));
}

#[test]
fn only_the_requested_interface_is_read() {
    let stage = DeclaredService::new();
    let asked = Arc::default();
    serve_document(&stage.bus.address, NESTED, &asked);
    let table = stage.stdout_of(&[NAME, "/", "org.example.Second1"]);
    assert!(table.contains(".Two "), "{table}");
    assert_eq!(*asked.lock().expect("no thread panicked"), ["org.example.Second1"]);
}

/// Starts a service with one object. It stores the interfaces whose properties are read.
fn serve_document(address: &str, document: &'static str, asked: &Arc<Mutex<Vec<String>>>) {
    let (address, asked, (ready, is_ready)) =
        (address.to_owned(), Arc::clone(asked), mpsc::channel());
    thread::spawn(move || {
        let bus = Connection::open(&address).expect("the bus is there");
        bus.request_name(NAME, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while let Ok(Some(request)) = bus.next_request(None) {
            let sent = match request.message().member().unwrap_or_default() {
                "Introspect" if request.message().path() == Some("/") => {
                    request.reply(&(document,))
                }
                "Introspect" => request.reply(&("<node/>",)),
                "GetAll" => {
                    let (interface,): (&str,) = request.read().expect("a string");
                    asked.lock().expect("no thread panicked").push(interface.to_owned());
                    let name = if interface.ends_with("Second1") { "Two" } else { "One" };
                    request.reply(&(std::collections::BTreeMap::from([(name, "text".to_owned())]),))
                }
                _ => request.reply(&()),
            };
            sent.expect("the bus accepts the reply");
        }
    });
    is_ready.recv().expect("the service has its name");
}

const NAME: &str = "org.example.Document";

const NESTED: &str = r#"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
<node>
  <annotation name="org.example.OfNode" value="a"/>
  <interface name="org.example.First1">
    <annotation name="org.example.OfInterface" value="b"/>
    <method name="Play">
      <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
      <arg name="song" type="s" direction="in">
        <annotation name="org.example.OfFirst" value="c"/>
        <annotation name="org.example.OfFirst2" value="d"/>
      </arg>
      <arg type="u"><annotation name="org.example.OfSecond" value="e"/></arg>
      <arg type="as" direction="out"/>
    </method>
    <signal name="Played"><arg type="s"/><arg name="at" type="t"/></signal>
    <property name="One" type="s" access="read">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
    </property>
    <property name="Secret" type="s" access="write"/>
  </interface>
  <interface name="org.example.Second1">
    <property name="Two" type="s" access="readwrite"/>
  </interface>
  <node name="inside">
    <interface name="org.example.Third1"><method name="Nothing"/></interface>
    <node name="deeper"/>
  </node>
  <node name="empty"/>
</node>
"#;
