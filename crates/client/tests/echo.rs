//! Round trips of every type, with this library and with other bindings.

mod support;

use std::collections::{BTreeMap, HashMap};

use diligence_client::wire::body::{Decode, DecodeArgs, Encode, Value, Variant};
use diligence_client::wire::names::{ObjectPath, ObjectPathBuf};
use diligence_client::wire::signature::{Signature, SignatureBuf};
use diligence_client::{Connection, IncomingCall, NameFlags, ServedInterface, Values};
use support::PrivateTestBus;

const NAME: &str = "org.example.Echo";
const PATH: &str = "/org/example/Echo";

/// Serves a method that returns its arguments, and methods that do so with fixed types.
fn serve_echo(connection: &Connection) {
    let interface = ServedInterface::<()>::builder(NAME)
        .raw_method("Echo", &[], &[], |(), request| echo_values(&request))
        .method("EchoNumbers", &NUMBERS, &NUMBERS, |(), _, numbers: EchoedNumbers| Ok(numbers))
        .method("EchoTexts", &TEXTS, &TEXTS, |(), _, texts: EchoedTexts| Ok(texts))
        .method("EchoContainers", &CONTAINERS, &CONTAINERS, |(), _, all: NestedContainers| Ok(all))
        .build()
        .expect("a valid interface");
    connection.add_object(PATH, &interface, ()).expect("the path is free");
    connection.request_name(NAME, NameFlags::NONE).expect("the name has no owner");
}

fn echo_values(request: &IncomingCall) {
    let values = Value::read_args(&request.message().message()).expect("the bus checked it");
    request.reply(&Values(&values)).expect("a received body can be encoded");
}

type EchoedNumbers = (u8, bool, i16, u16, i32, u32, i64, u64, f64);
const NUMBERS: [&str; 9] = ["y", "b", "n", "q", "i", "u", "x", "t", "d"];

type EchoedTexts = (String, ObjectPathBuf, SignatureBuf, Value);
const TEXTS: [&str; 4] = ["s", "o", "g", "v"];

type NestedContainers =
    (Vec<u8>, Vec<String>, HashMap<String, Value>, (i32, (String, u8)), Vec<Vec<(u16, bool)>>);
const CONTAINERS: [&str; 5] = ["bytes", "texts", "map", "struct", "nested"];

fn numbers() -> EchoedNumbers {
    (255, true, i16::MIN, u16::MAX, i32::MIN, u32::MAX, i64::MIN, u64::MAX, -0.1)
}

fn texts() -> EchoedTexts {
    let path = ObjectPath::new("/a/b").expect("a path");
    let signature = Signature::new("a{s(iv)}").expect("a signature");
    ("Grüße, 世界".into(), path.into(), signature.into(), Value::from(7_u16))
}

fn containers() -> NestedContainers {
    let map = HashMap::from([("a".to_owned(), Value::from(1_u8)), ("b".into(), "x".into())]);
    (
        vec![0, 1, 255],
        vec![String::new(), "x".into()],
        map,
        (-1, ("y".into(), 2)),
        vec![vec![], vec![(1, true), (2, false)]],
    )
}

#[test]
fn all_types_round_trip_within_this_library() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_echo);
    let connection = bus.connect();
    let echo = connection.proxy(NAME, PATH, NAME).unwrap();

    for member in ["Echo", "EchoNumbers"] {
        assert_eq!(echo.call(member, &numbers()).unwrap().read(), Ok(numbers()), "{member}");
    }
    for member in ["Echo", "EchoTexts"] {
        assert_eq!(echo.call(member, &texts()).unwrap().read(), Ok(texts()), "{member}");
    }
    for member in ["Echo", "EchoContainers"] {
        assert_eq!(echo.call(member, &containers()).unwrap().read(), Ok(containers()), "{member}");
    }
    assert_eq!(echo.call("Echo", &()).unwrap().read(), Ok(()));
    let twelve = (1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8, 9_u8, 10_u8, 11_u8, "twelve");
    assert_eq!(echo.call("Echo", &twelve).unwrap().read(), Ok(twelve));
}

#[test]
fn python_clients_call_with_every_type() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_echo);
    let script = r#"
import dbus
bus = dbus.SessionBus()
echo = dbus.Interface(bus.get_object('org.example.Echo', '/org/example/Echo', introspect=False),
                      'org.example.Echo')
cases = [
    dbus.Byte(255), True, dbus.Int16(-32768), dbus.UInt16(65535), dbus.Int32(-1),
    dbus.UInt32(4294967295), dbus.Int64(-2**63), dbus.UInt64(2**64 - 1), -0.1,
    'Grüße', dbus.ObjectPath('/a/b'), dbus.Signature('a{s(iv)}'),
    dbus.Array([dbus.Byte(n) for n in (0, 1, 255)], signature='y'), dbus.Array(['', 'x'], signature='s'),
    dbus.Array([], signature='(ii)'),
    dbus.Dictionary({'a': dbus.Byte(1), 'b': 'x'}, signature='sv'),
    dbus.Struct((dbus.Int32(-1), dbus.Struct(('y', dbus.Byte(2))))),
    dbus.String('in a variant', variant_level=2),
    dbus.Dictionary({1: dbus.Array([True], signature='b')}, signature='uab'),
]
for case in cases:
    back = echo.Echo(case)
    assert back == case, (case, back)
    assert getattr(back, 'variant_level', 0) == getattr(case, 'variant_level', 0)
first, second = echo.Echo(dbus.Byte(1), 'two')
assert (first, second) == (1, 'two')
numbers = (dbus.Byte(255), False, dbus.Int16(-1), dbus.UInt16(2), dbus.Int32(-3), dbus.UInt32(4),
           dbus.Int64(-5), dbus.UInt64(6), 7.5)
assert echo.EchoNumbers(*numbers, signature='ybnqiuxtd') == numbers
try:
    echo.EchoNumbers('text')
    raise SystemExit('no error')
except dbus.DBusException as error:
    assert error.get_dbus_name() == 'org.freedesktop.DBus.Error.InvalidArgs', error
print('done')
"#;
    assert_eq!(bus.python(script), "done\n");
}

#[test]
fn python_services_return_every_type() {
    let bus = PrivateTestBus::start();
    let script = r#"
import dbus, dbus.service, dbus.mainloop.glib
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName('org.example.Echo', bus)

class Echo(dbus.service.Object):
    pass

types = ['y', 'b', 'n', 'q', 'i', 'u', 'x', 't', 'd', 's', 'o', 'g', 'v', 'ay', 'as', 'a{sv}',
         'a{us}', '(i(sy))', 'aa(qb)', 'ad']
def method(index, kind):
    def echo(self, value):
        return value
    echo.__name__ = 'Echo%d' % index
    return dbus.service.method('org.example.Echo', in_signature=kind, out_signature=kind)(echo)

methods = {'Echo%d' % index: method(index, kind) for index, kind in enumerate(types)}
served = type('Served', (Echo,), methods)(bus, '/org/example/Echo')
print('ready')
GLib.MainLoop().run()
"#;
    let _service = bus.python_service(script);
    let connection = bus.connect();

    /// Sends `value` through the method with this number, and compares the result.
    fn check<T>(connection: &Connection, number: u32, value: T)
    where
        T: Encode + for<'a> Decode<'a> + PartialEq + std::fmt::Debug,
        (T,): for<'a> DecodeArgs<'a>,
    {
        let member = format!("Echo{number}");
        let reply = connection.call(NAME, PATH, NAME, &member, &(&value,)).unwrap();
        assert_eq!(reply.read::<(T,)>().unwrap().0, value, "{member}");
    }

    let (y, b, n, q, i, u, x, t, d) = numbers();
    check(&connection, 0, y);
    check(&connection, 1, b);
    check(&connection, 2, n);
    check(&connection, 3, q);
    check(&connection, 4, i);
    check(&connection, 5, u);
    check(&connection, 6, x);
    check(&connection, 7, t);
    check(&connection, 8, d);
    let (s, o, g, v) = texts();
    check(&connection, 9, s);
    check(&connection, 10, o);
    check(&connection, 11, g);
    check(&connection, 12, v);
    let (bytes, strings, map, structure, nested) = containers();
    check(&connection, 13, bytes);
    check(&connection, 14, strings);
    check(&connection, 15, map);
    check(&connection, 16, BTreeMap::from([(7_u32, "seven".to_owned())]));
    check(&connection, 17, structure);
    check(&connection, 18, nested);
    check(&connection, 19, vec![1.5, f64::MAX]);
    check(&connection, 12, Variant(Value::from("twice")));
}

#[test]
fn gdbus_and_dbus_send_clients_get_correct_types() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_echo);
    let call = ["call", "--session", "--dest", NAME, "--object-path", PATH, "--method"];
    let texts = ["org.example.Echo.EchoTexts", "text", "/a/b", "a{sv}", "<(1, ['x'])>"];
    let printed = bus.gdbus(&[&call[..], &texts[..]].concat());
    assert_eq!(printed, "('text', objectpath '/a/b', signature 'a{sv}', <(1, ['x'])>)\n");

    let destination = format!("--dest={NAME}");
    let printed = bus.dbus_send(&[
        "--session",
        "--print-reply=literal",
        &destination,
        PATH,
        "org.example.Echo.Echo",
        "byte:7",
        "int64:-9",
        "double:0.5",
        "array:string:a,b",
        "dict:string:uint32:one,1",
        "variant:objpath:/x",
    ]);
    for piece in ["byte 7", "int64 -9", "double 0.5", "a", "b", "uint32 1", "/x"] {
        assert!(printed.contains(piece), "{piece}: {printed}");
    }
}

#[test]
fn busctl_calls_round_trip_values() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_echo);
    let arguments = ["call", NAME, PATH, NAME, "Echo", "a{sv}as", "1", "k", "(ub)", "7", "true"];
    let printed = bus.busctl(&[&arguments[..], &["2", "x", "y"][..]].concat());
    assert_eq!(printed, "a{sv}as 1 \"k\" (ub) 7 true 2 \"x\" \"y\"\n");
}
