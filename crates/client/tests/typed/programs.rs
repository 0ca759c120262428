//! Programs of other implementations call served interfaces, and read their introspection data.

use std::time::Duration;

use crate::lamp::{NAME, PATH, TestLamp, serve_lamp};
use crate::support::PrivateTestBus;

#[test]
fn gdbus_reads_the_introspection_and_calls() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let seen = bus.gdbus(&["introspect", "--session", "--dest", NAME, "--object-path", PATH]);
    let words: Vec<&str> = seen.split_whitespace().collect();
    let seen = words.join(" ");
    for part in [
        r#"@org.gtk.GDBus.DocString("A lamp.") interface org.example.Lamp { methods:"#,
        "Toggle(out b is_on);",
        "Combine(in (ix) numbers, in as texts, out x sum, out s texts);",
        "Nothing();",
        r#"@org.freedesktop.DBus.Method.NoReply("true") Forget(in s label);"#,
        r#"@org.freedesktop.DBus.Deprecated("true") SwapFiles(in h file, in h log, out u number, out h file);"#,
        "Wait(in t ms, out t arg_1);",
        "getHTTPPath(in o path, out o arg_1);",
        "Toggled(b is_on, s by);",
        r#"@org.freedesktop.DBus.Deprecated("true") Bare();"#,
        "readwrite y Brightness = 0x07;",
        r#"@org.freedesktop.DBus.Property.EmitsChangedSignal("invalidates") readwrite s Label = 'desk';"#,
        r#"@org.freedesktop.DBus.Property.EmitsChangedSignal("const") @org.example.Unit("one") readonly (us) Version = (1, 'one');"#,
        r#"@org.freedesktop.DBus.Property.EmitsChangedSignal("false") readonly b IsOn = false;"#,
        r#"@org.freedesktop.DBus.Property.EmitsChangedSignal("false") writeonly s Secret;"#,
        "interface org.freedesktop.DBus.Peer {",
    ] {
        assert!(seen.contains(part), "{part}\n{seen}");
    }
    let call = |member: &str, arguments: &[&str]| {
        let method = format!("{NAME}.{member}");
        let call =
            ["call", "--session", "--dest", NAME, "--object-path", PATH, "--method", &method];
        bus.gdbus(&[&call[..], arguments].concat())
    };
    assert_eq!(call("Toggle", &[]), "(true,)\n");
    assert_eq!(call("Combine", &["(3, 4)", "['a', 'b']"]), "(int64 7, 'ab')\n");
    assert_eq!(call("Wait", &["5"]), "(uint64 5,)\n");
}

#[test]
fn busctl_and_dbus_send_call_typed_objects() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let seen = bus.busctl(&["introspect", NAME, PATH, NAME]);
    let rows: Vec<Vec<&str>> = seen.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        vec![".Combine", "method", "(ix)as", "xs", "-"],
        vec![".Forget", "method", "s", "-", "no-reply"],
        vec![".SwapFiles", "method", "hh", "uh", "deprecated"],
        vec![".Toggled", "signal", "bs", "-", "-"],
        vec![".Brightness", "property", "y", "7", "emits-change", "writable"],
        vec![".Label", "property", "s", "\"desk\"", "emits-invalidation", "writable"],
        vec![".Version", "property", "(us)", "-", "const"],
        vec![".IsOn", "property", "b", "false", "-"],
    ] {
        assert!(rows.contains(&row), "{row:?}: {seen}");
    }
    let called = bus.busctl(&["call", NAME, PATH, NAME, "Combine", "(ix)as", "1", "2", "1", "z"]);
    assert_eq!(called, "xs 3 \"z\"\n");
    bus.busctl(&["set-property", NAME, PATH, NAME, "Brightness", "y", "9"]);
    assert_eq!(bus.busctl(&["get-property", NAME, PATH, NAME, "Brightness"]), "y 9\n");
    let refused = ["--user", "set-property", NAME, PATH, NAME, "Brightness", "y", "200"];
    let output = bus.run("busctl", "systemd", &refused);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("200 is more than 100"), "{complaint}");

    let destination = format!("--dest={NAME}");
    let member = format!("{NAME}.Toggle");
    let printed = bus.dbus_send(&["--print-reply=literal", &destination, PATH, &member]);
    assert_eq!(printed, "   boolean true\n");
    let member = format!("{NAME}.Toggle");
    let extra = ["--print-reply", &destination, PATH, &member, "string:extra"];
    let complaint = bus.run("dbus-send", "dbus-bin", &extra).stderr;
    let complaint = String::from_utf8_lossy(&complaint);
    assert!(complaint.starts_with("Error org.freedesktop.DBus.Error.InvalidArgs"), "{complaint}");
}

#[test]
fn python_reads_the_introspection_and_gets_errors() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let printed = bus.python(
        r#"
import dbus
from gi.repository import Gio

proxy = dbus.SessionBus().get_object("org.example.Lamp", "/org/example/Lamp")
lamp = dbus.Interface(proxy, "org.example.Lamp")
# dbus-python converts arguments by the types in the introspection data.
print(lamp.Combine((1, 2), ["x", "y"]))
lamp.Forget("python", ignore_reply=True)
properties = dbus.Interface(proxy, "org.freedesktop.DBus.Properties")
print(properties.Get("org.example.Lamp", "Label"))
try:
    properties.Set("org.example.Lamp", "Brightness", dbus.Byte(255))
except dbus.DBusException as error:
    print(error.get_dbus_name(), error.get_dbus_message())
properties.Set("org.example.Lamp", "Brightness", dbus.Byte(0))
try:
    lamp.Toggle()
except dbus.DBusException as error:
    print(error.get_dbus_name(), error.get_dbus_message())
print(sorted(str(name) for name in properties.GetAll("org.example.Lamp")))
xml = dbus.Interface(proxy, "org.freedesktop.DBus.Introspectable").Introspect()
interface = Gio.DBusNodeInfo.new_for_xml(xml).lookup_interface("org.example.Lamp")
method = interface.lookup_method("SwapFiles")
print([(arg.name, arg.signature) for arg in method.in_args])
print([(arg.name, arg.signature) for arg in method.out_args])
print({one.key: one.value for one in method.annotations})
"#,
    );
    let expected = "\
(dbus.Int64(3), dbus.String('xy'))
python
org.freedesktop.DBus.Error.InvalidArgs 255 is more than 100
org.example.Lamp.Error.Broken the lamp is broken
['Brightness', 'IsOn', 'Label', 'Uses', 'Version']
[('file', 'h'), ('log', 'h')]
[('number', 'u'), ('file', 'h')]
{'org.freedesktop.DBus.Deprecated': 'true'}
";
    assert_eq!(printed, expected);
}

/// GLib caches properties, and changes the cached values by PropertiesChanged.
#[test]
fn caches_of_glib_follow_the_change_signals() {
    let bus = PrivateTestBus::start();
    let _service = bus.run_thread(|connection, ready, stop| {
        let lamp = serve_lamp(&connection);
        ready.send(()).unwrap();
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            connection.process(Some(Duration::from_millis(20))).unwrap();
            let was_on = lamp.state().brightness == 42;
            if was_on {
                lamp.state().brightness = 43;
                TestLamp::brightness_changed(&lamp);
            }
        }
    });
    let printed = bus.python(
        r#"
from gi.repository import Gio, GLib

lamp = Gio.DBusProxy.new_for_bus_sync(
    Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None,
    "org.example.Lamp", "/org/example/Lamp", "org.example.Lamp")
cached = lambda name: lamp.get_cached_property(name)
print(cached("Brightness"), cached("Label"), cached("Uses"), cached("IsOn"))
context = GLib.MainContext.default()
seen = []

def changed(proxy, changed, invalidated):
    print(changed, invalidated, cached("Brightness"), cached("Label"), cached("Uses"))
    seen.append(changed)

def wait(count):
    while len(seen) < count:
        context.iteration(True)

lamp.connect("g-properties-changed", changed)
properties = "org.freedesktop.DBus.Properties.Set"
def set(name, value):
    lamp.call_sync(properties, GLib.Variant("(ssv)", ("org.example.Lamp", name, value)), 0, -1)

set("Brightness", GLib.Variant("y", 12))
wait(1)
set("Label", GLib.Variant("s", "glib"))
wait(2)
lamp.call_sync("Toggle", None, 0, -1)
wait(3)
# The service changes the value once more by itself.
set("Brightness", GLib.Variant("y", 42))
wait(5)
"#,
    );
    let expected = "\
byte 0x07 'desk' uint32 0 false
{'Brightness': <byte 0x0c>} [] byte 0x0c 'desk' uint32 0
@a{sv} {} ['Label'] byte 0x0c None uint32 0
{'Uses': <uint32 1>} [] byte 0x0c None uint32 1
{'Brightness': <byte 0x2a>} [] byte 0x2a None uint32 1
{'Brightness': <byte 0x2b>} [] byte 0x2b None uint32 1
";
    assert_eq!(printed, expected);
}

/// GLib knows the objects of a manager by its signals and by GetManagedObjects.
#[test]
fn object_managers_of_glib_see_typed_objects() {
    let bus = PrivateTestBus::start();
    let _service = bus.run_thread(|connection, ready, stop| {
        connection.add_object_manager("/org/example").unwrap();
        let first = serve_lamp(&connection);
        let mut second = None;
        ready.send(()).unwrap();
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            connection.process(Some(Duration::from_millis(20))).unwrap();
            // A client adds and removes the second lamp by the brightness of the first.
            let brightness = first.state().brightness;
            if brightness == 1 && second.is_none() {
                second = Some(connection.export("/org/example/Second", TestLamp::new()).unwrap());
            }
            if brightness == 2
                && let Some(lamp) = second.take()
            {
                lamp.remove();
            }
        }
    });
    let printed = bus.python(
        r#"
from gi.repository import Gio, GLib

manager = Gio.DBusObjectManagerClient.new_for_bus_sync(
    Gio.BusType.SESSION, Gio.DBusObjectManagerClientFlags.NONE,
    "org.example.Lamp", "/org/example", None, None)
seen = []
manager.connect("object-added", lambda _, added: seen.append("+" + added.get_object_path()))
manager.connect("object-removed", lambda _, removed: seen.append("-" + removed.get_object_path()))
context = GLib.MainContext.default()

def lamp(name):
    return manager.get_object("/org/example/" + name).get_interface("org.example.Lamp")

def set(value, count):
    value = GLib.Variant("(ssv)", ("org.example.Lamp", "Brightness", GLib.Variant("y", value)))
    lamp("Lamp").call_sync("org.freedesktop.DBus.Properties.Set", value, 0, -1)
    while len(seen) < count:
        context.iteration(True)

print([one.get_object_path() for one in manager.get_objects()])
set(1, 1)
print(seen[-1], lamp("Second").get_cached_property("Brightness"))
print(lamp("Second").call_sync("Toggle", None, 0, -1))
set(2, 2)
print(seen[-1])
"#,
    );
    let expected = "\
['/org/example/Lamp']
+/org/example/Second byte 0x07
(true,)
-/org/example/Second
";
    assert_eq!(printed, expected);
}
