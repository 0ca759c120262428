//! Services whose names, objects and members the completion tests use.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use client::{Connection, IncomingCall, NameFlags};

use crate::recorder::DbusDaemon;
use crate::support::ProgramFolder;

/// A service with a hyphen and an underscore in its name, and its introspection data.
pub(crate) const LAMP: &str = "org.example.Lamp-1_a";
const LAMP_OBJECTS: &[(&str, &str)] = &[
    ("/", "<node name='org'/>"),
    ("/org", "<node name='example'/>"),
    ("/org/example", "<node name='lamp_1'/>"),
    (
        "/org/example/lamp_1",
        "<interface name='org.freedesktop.DBus.Introspectable'><method name='Introspect'>
           <arg type='s' direction='out'/></method></interface>
         <interface name='org.example.Lamp1'>
           <method name='Switch'><arg name='on' type='b' direction='in'/>
             <arg name='how' type='s' direction='in'/><arg type='u' direction='out'/></method>
           <method name='Blink'/><signal name='Switched'><arg name='on' type='b'/></signal>
           <property name='On' type='b' access='readwrite'/>
           <property name='Color' type='s' access='read'/>
           <property name='Secret' type='s' access='write'/></interface>
         <interface name='org.example.Lamp1.Timer'><method name='Blink'/><method name='Begin'/>
         </interface><interface name='org.example.Bare'/><node name='bulbs'/>",
    ),
    ("/org/example/lamp_1/bulbs", "<node name='a'/><node name='b'/>"),
    ("/org/example/lamp_1/bulbs/a", "<interface name='org.example.Bulb'/>"),
    ("/org/example/lamp_1/bulbs/b", "<interface name='org.example.Bulb'/>"),
];

/// A service whose introspection data contains shell commands.
pub(crate) const HOSTILE: &str = "org.example.Hostile";
const HOSTILE_OBJECTS: &[(&str, &str)] = &[(
    "/",
    "<interface name='a.$(touch hacked)'><method name='X'/></interface>
     <interface name='a.b'><method name='M`touch hacked`'/><method name='M;touch hacked'/>
       <method name='M&#10;whole&#9;x'/><method name='Good'>
       <arg name='&#10;whole&#9;x' type='s' direction='in'/></method></interface>
     <node name='$(touch hacked)'/><node name='../..'/><node name='good'/><node name='a b'/>",
)];

/// A service that never replies.
pub(crate) const SILENT: &str = "org.example.Silent";

/// An activatable service that is not running.
pub(crate) const SLEEPER: &str = "org.example.Sleeper";

/// Runs a service in a thread until the bus ends, and returns its unique name.
fn serve(address: &str, name: &'static str, objects: &'static [(&str, &str)]) -> String {
    let (address, (ready, is_ready)) = (address.to_owned(), mpsc::channel());
    thread::spawn(move || {
        let connection = Connection::open(&address).expect("the bus is there");
        connection.request_name(name, NameFlags::NONE).expect("the name is free");
        ready.send(connection.unique_name().to_string()).expect("the test waits");
        while let Ok(Some(request)) = connection.next_request(None) {
            if !objects.is_empty() {
                answer(&request, objects);
            }
        }
    });
    is_ready.recv().expect("the service has its name")
}

fn answer(request: &IncomingCall, objects: &[(&str, &str)]) {
    let path = request.message().path().unwrap_or_default();
    let found = objects.iter().find(|(object, _)| *object == path);
    let document = format!("<node>{}</node>", found.map_or("", |(_, inside)| *inside));
    request.reply(&(document,)).expect("the bus accepts the reply");
}

pub(crate) struct LampBus {
    pub(crate) folder: ProgramFolder,
    pub(crate) bus: DbusDaemon,
    /// The unique name of the lamp service.
    pub(crate) lamp: String,
}

impl LampBus {
    pub(crate) fn new() -> Self {
        let folder = ProgramFolder::new();
        let services = folder.join("services");
        fs::create_dir(&services).expect("a writable folder");
        let woken = folder.join("woken");
        let service =
            format!("[D-BUS Service]\nName={SLEEPER}\nExec=/usr/bin/touch {}\n", woken.display());
        fs::write(services.join("sleeper.service"), service).expect("a writable folder");
        let services = format!("<servicedir>{}</servicedir>", services.display());
        let policy = format!("</policy>{services}<policy context='default'>");
        let bus = DbusDaemon::start(&folder, &policy);
        let lamp = serve(&bus.address, LAMP, LAMP_OBJECTS);
        serve(&bus.address, HOSTILE, HOSTILE_OBJECTS);
        serve(&bus.address, SILENT, &[]);
        Self { folder, bus, lamp }
    }

    /// Puts diligence into PATH, and the command into the environment of the bus.
    pub(crate) fn with_path(&self, command: &mut Command) {
        let programs = self.folder.join("bin");
        if !programs.exists() {
            fs::create_dir(&programs).expect("a writable folder");
            let program = self.folder.diligence().get_program().to_owned();
            symlink(program, programs.join("diligence")).expect("a writable folder");
        }
        let path = std::env::var("PATH").expect("PATH is set");
        command.env("PATH", format!("{}:{path}", programs.display()));
        command.env("HOME", self.folder.join("")).current_dir(self.folder.join(""));
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address).env_remove("XDG_RUNTIME_DIR");
    }

    /// Generates the completion scripts, and returns their folder.
    pub(crate) fn scripts(&self) -> String {
        let place = self.folder.join("completions");
        let mut command = self.folder.diligence();
        let output = command.args(["generate", "completions"]).arg(&place).output();
        assert!(output.expect("the program exists").status.success());
        place.display().to_string()
    }

    pub(crate) fn ask(&self, address: &str, shell: &str, words: &[&str]) -> Output {
        let mut command = self.folder.diligence();
        command.args(["complete", shell, "--"]).args(words);
        command.env("DBUS_SESSION_BUS_ADDRESS", address);
        command.output().expect("the program exists")
    }
}

/// Deadline of retries. On a busy machine, completion may exceed its own time limit.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
