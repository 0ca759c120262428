//! `diligence introspect --format=gdbus`, `--recurse` and `--only-properties`, beside gdbus.

use std::process::{Command, Output};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use client::{Connection, NameFlags};

use crate::everything::{EVERYTHING, ExitHealth, OBJECT, serve};
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

    fn ours(&self, words: &[&str]) -> Output {
        let mut command = self.folder.diligence();
        command.arg("introspect").args(words).args(["--address", &self.bus.address]);
        command.env("LC_ALL", "C.UTF-8").output().expect("the program exists")
    }

    fn told(&self, words: &[&str]) -> String {
        let output = self.ours(words);
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

    /// Whether both print the same: all of it, the properties, and the document.
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
            // In the words of gdbus, and in those of busctl.
            assert_eq!(self.told(&[&words, format].concat()), expected, "{words:?}");
            let words = [&[name, path][..], options, format].concat();
            assert_eq!(self.told(&words), expected, "{words:?}");
        }
    }
}

#[test]
fn declarations_are_those_of_gdbus() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Everything", ExitHealth::Well);
    stage.assert_same("com.example.Everything", OBJECT);
    stage.assert_same("com.example.Everything", "/com");
    stage.assert_same("org.freedesktop.DBus", "/");
    stage.assert_same("org.freedesktop.DBus", "/org/freedesktop/DBus");
}

/// What is said of members and arguments, and objects that a document has inside.
#[test]
fn annotations_and_objects_inside_are_told_as_gdbus_tells_them() {
    let stage = DeclaredService::new();
    let (address, asked) = (&stage.bus.address, Arc::default());
    serve_document(address, INSIDE, &asked);
    stage.assert_same(NAME, "/");
}

#[test]
fn what_cannot_be_read_is_told_beside() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Broken", ExitHealth::Broken);
    let words = ["com.example.Broken", "/", "--recurse", "--only-properties"];
    let output = stage.ours(&words);
    assert!(output.status.success());
    let (told, beside) = (text(&output.stdout), text(&output.stderr));
    assert!(told.contains("      readonly d Double;\n"), "{told}");
    assert!(told.contains("      readonly t LongU = 18446744073709551615;\n"), "{told}");
    for expected in [
        "diligence introspect: /odd of com.example.Broken: com.example.Error.Refused: not for you\n",
        "diligence introspect: com.example.Everything1.Double of /com/example/Everything: \
         com.example.Error.Refused: it is broken\n",
    ] {
        assert!(beside.contains(expected), "{beside}");
    }
}

#[test]
fn objects_below_are_told_to_programs_and_as_tables() {
    let stage = DeclaredService::new();
    serve(&stage.bus.address, "com.example.Everything", ExitHealth::Well);
    let name = "com.example.Everything";
    let json = stage.told(&[name, "/", "--recurse", "--only-properties", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let paths: Vec<_> = json.as_array().expect("objects").iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["/", "/com", "/com/example", OBJECT, &format!("{OBJECT}/below")]);
    assert_eq!(json[3]["interfaces"].as_array().map(Vec::len), Some(1), "one has properties");
    let tables = stage.told(&[name, "/com/example", EVERYTHING, "--recurse", "--format=busctl"]);
    assert!(tables.contains(&format!("\nObject {OBJECT}:\nNAME ")), "{tables}");
    let refused = stage.ours(&[name, "/com/example", "com.example.Nothing1", "--recurse"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no interface com.example.Nothing1"));
}

#[test]
fn only_the_interface_that_is_wanted_is_read() {
    let stage = DeclaredService::new();
    let asked = Arc::default();
    serve_document(&stage.bus.address, INSIDE, &asked);
    let table = stage.told(&[NAME, "/", "org.example.Second1"]);
    assert!(table.contains(".Two "), "{table}");
    assert_eq!(*asked.lock().expect("nobody has failed"), ["org.example.Second1"]);
}

/// A service with one object, which notes of which interfaces properties are read.
fn serve_document(address: &str, document: &'static str, asked: &Arc<Mutex<Vec<String>>>) {
    let (address, asked, (ready, is_ready)) =
        (address.to_owned(), Arc::clone(asked), mpsc::channel());
    thread::spawn(move || {
        let bus = Connection::open(&address).expect("the bus is there");
        bus.request_name(NAME, NameFlags::NONE).expect("nobody has it");
        ready.send(()).expect("the test waits");
        while let Ok(Some(request)) = bus.next_request(None) {
            let sent = match request.message().member().unwrap_or_default() {
                "Introspect" if request.message().path() == Some("/") => {
                    request.reply(&(document,))
                }
                "Introspect" => request.reply(&("<node/>",)),
                "GetAll" => {
                    let (interface,): (&str,) = request.read().expect("it is a text");
                    asked.lock().expect("nobody has failed").push(interface.to_owned());
                    let name = if interface.ends_with("Second1") { "Two" } else { "One" };
                    request.reply(&(std::collections::BTreeMap::from([(name, "text".to_owned())]),))
                }
                _ => request.reply(&()),
            };
            sent.expect("the bus takes it");
        }
    });
    is_ready.recv().expect("it has the name");
}

const NAME: &str = "org.example.Document";

const INSIDE: &str = r#"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
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
