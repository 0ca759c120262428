"""Services and clients that behave as slow, wrong or busy programs do.

usage: peers.py ROLE [COUNT]
"""

import os
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAMES = "<node><interface name='org.example.Indexer'>" \
    "<method name='Search'><arg type='s' direction='in' name='text'/>" \
    "<arg type='as' direction='out' name='found'/></method>" \
    "<method name='Fail'><arg type='s' direction='in' name='error'/></method>" \
    "<method name='Ignore'/></interface></node>"

SENSOR = "<node><interface name='org.example.Sensor'>" \
    "<method name='Burst'><arg type='u' direction='in' name='count'/></method>" \
    "<method name='Read'><arg type='d' direction='out' name='value'/></method>" \
    "<property name='Value' type='d' access='read'/></interface></node>"

BACKUP = "<node><interface name='org.example.Backup'>" \
    "<method name='Status'><arg type='s' direction='out' name='status'/></method>" \
    "</interface></node>"

PORTAL = "<node><interface name='org.freedesktop.impl.portal.Settings'>" \
    "<method name='ReadAll'><arg type='as' direction='in' name='namespaces'/>" \
    "<arg type='a{sa{sv}}' direction='out' name='value'/></method>" \
    "<method name='Read'><arg type='s' direction='in' name='namespace'/>" \
    "<arg type='s' direction='in' name='key'/>" \
    "<arg type='v' direction='out' name='value'/></method>" \
    "<signal name='SettingChanged'><arg type='s' name='namespace'/>" \
    "<arg type='s' name='key'/><arg type='v' name='value'/></signal>" \
    "<property name='version' type='u' access='read'/></interface>" \
    "<interface name='org.freedesktop.impl.portal.FileChooser'>" \
    "<method name='OpenFile'><arg type='o' direction='in' name='handle'/>" \
    "<arg type='s' direction='in' name='app_id'/>" \
    "<arg type='s' direction='in' name='parent_window'/>" \
    "<arg type='s' direction='in' name='title'/>" \
    "<arg type='a{sv}' direction='in' name='options'/>" \
    "<arg type='u' direction='out' name='response'/>" \
    "<arg type='a{sv}' direction='out' name='results'/></method></interface></node>"

# True in the session after the update of its programs, in which searches are slower.
IS_UPDATED = "DESKTOP_UPDATED" in os.environ
# The duration of a search, in seconds. Meanwhile the service answers no other caller.
SEARCH_SECONDS = 1.8 if IS_UPDATED else 0.3
# The time from the start of a service until it owns its name, in seconds.
START_SECONDS = 3
# The time that a user takes to choose a file.
DIALOG_MILLISECONDS = 300
# The time that the impatient client waits for a reply.
PATIENCE_MILLISECONDS = 100
# The number of signals that the sensors send before they return to the main loop.
SENSORS = 4


def session():
    return Gio.bus_get_sync(Gio.BusType.SESSION)


def serve(connection, name, path, xml, call, properties=None):
    """Exports an object with all interfaces of the document."""
    read = properties or (lambda *_: None)
    for interface in Gio.DBusNodeInfo.new_for_xml(xml).interfaces:
        connection.register_object(path, interface, call, read, None)
    if name is not None:
        own(connection, name)


def own(connection, name):
    Gio.bus_own_name_on_connection(connection, name, Gio.BusNameOwnerFlags.NONE, None, None)


def run():
    GLib.MainLoop().run()


def indexer():
    """A service that works on one call at a time."""

    def call(_connection, _sender, _path, _interface, method, arguments, invocation):
        if method == "Search":
            time.sleep(SEARCH_SECONDS)
            (text,) = arguments
            invocation.return_value(GLib.Variant("(as)", ([f"/home/user/{text}.txt"],)))
        elif method == "Fail":
            (error,) = arguments
            invocation.return_dbus_error(error, "The index is locked")
        # A call of Ignore never gets a reply.

    serve(session(), "org.example.Indexer", "/org/example/Indexer", NAMES, call)
    run()


def sensors():
    """Objects whose properties change often."""
    connection = session()
    paths = [f"/org/example/Sensor/{number}" for number in range(SENSORS)]
    values = dict.fromkeys(paths, 20.0)

    def burst(count):
        for number in range(count):
            path = paths[number % SENSORS]
            values[path] += 0.25
            changed = {"Value": GLib.Variant("d", values[path])}
            body = GLib.Variant("(sa{sv}as)", ("org.example.Sensor", changed, []))
            properties = "org.freedesktop.DBus.Properties"
            connection.emit_signal(None, path, properties, "PropertiesChanged", body)

    def call(_connection, _sender, path, _interface, method, arguments, invocation):
        if method == "Burst":
            burst(*arguments)
            invocation.return_value(None)
        else:
            invocation.return_value(GLib.Variant("(d)", (values[path],)))

    def read(_connection, _sender, path, _interface, _name):
        return GLib.Variant("d", values[path])

    for path in paths:
        serve(connection, None, path, SENSOR, call, read)
    own(connection, "org.example.Sensors")
    run()


def backup():
    """A service that is slow to start."""
    time.sleep(START_SECONDS)

    def call(_connection, _sender, _path, _interface, _method, _arguments, invocation):
        invocation.return_value(GLib.Variant("(s)", ("idle",)))

    serve(session(), "org.example.Backup", "/org/example/Backup", BACKUP, call)
    run()


def portal():
    """A backend of xdg-desktop-portal, without a display."""
    settings = {"org.freedesktop.appearance": {"color-scheme": GLib.Variant("u", 1)}}

    def call(_connection, _sender, _path, _interface, method, arguments, invocation):
        if method == "ReadAll":
            invocation.return_value(GLib.Variant("(a{sa{sv}})", (settings,)))
        elif method == "Read":
            namespace, key = arguments
            value = settings.get(namespace, {}).get(key)
            if value is None:
                error = "org.freedesktop.portal.Error.NotFound"
                invocation.return_dbus_error(error, "Requested setting not found")
            else:
                invocation.return_value(GLib.Variant("(v)", (value,)))
        else:
            results = {"uris": GLib.Variant("as", ["file:///tmp/letter.txt"])}
            chosen = GLib.Variant("(ua{sv})", (0, results))
            GLib.timeout_add(DIALOG_MILLISECONDS, lambda: invocation.return_value(chosen))

    def read(*_):
        return GLib.Variant("u", 1)

    name = "org.freedesktop.impl.portal.desktop.diligence"
    serve(session(), name, "/org/freedesktop/portal/desktop", PORTAL, call, read)
    run()


def listener():
    """A client that subscribes to every change, as a panel does."""
    connection = session()
    properties = "org.freedesktop.DBus.Properties"
    rules = [(properties, "PropertiesChanged"), ("org.freedesktop.DBus", "NameOwnerChanged")]
    for interface, member in rules:
        flags = Gio.DBusSignalFlags.NONE
        connection.signal_subscribe(None, interface, member, None, None, flags, lambda *_: None)
    run()


def impatient(count):
    """A client whose calls time out, and which is there when the late replies come."""
    connection = session()
    for _ in range(count):
        try:
            search(connection, PATIENCE_MILLISECONDS)
        except GLib.Error as error:
            if not error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT):
                raise
        else:
            raise SystemExit("the search was too fast")
    time.sleep(SEARCH_SECONDS * (count + 1))


def search(connection, timeout):
    name, path = "org.example.Indexer", "/org/example/Indexer"
    arguments, flags = GLib.Variant("(s)", ("letter",)), Gio.DBusCallFlags.NONE
    connection.call_sync(name, path, name, "Search", arguments, None, flags, timeout)


def leaver():
    """A client that calls and leaves before the reply."""
    connection = session()
    send(connection, "org.example.Indexer", "/org/example/Indexer", "Search", "leave")
    connection.flush_sync()
    connection.close_sync()


def send(connection, name, path, member, *texts):
    message = Gio.DBusMessage.new_method_call(name, path, name, member)
    if texts:
        message.set_body(GLib.Variant(f"({'s' * len(texts)})", texts))
    connection.send_message(message, Gio.DBusSendMessageFlags.NONE)


def flood(count):
    """A client that sends many calls and waits for no reply in between."""
    connection = session()
    for _ in range(count):
        message = Gio.DBusMessage.new_method_call(
            "org.example.Sensors", "/org/example/Sensor/0", "org.example.Sensor", "Read"
        )
        connection.send_message(message, Gio.DBusSendMessageFlags.NONE)
    path, interface = "/org/example/Sensor/0", "org.example.Sensor"
    flags, minute = Gio.DBusCallFlags.NONE, 60_000
    connection.call_sync("org.example.Sensors", path, interface, "Read", None, None, flags, minute)


def storm(count):
    """A client that takes and releases names."""
    connection = session()
    bus = "org.freedesktop.DBus"
    for number in range(count):
        name = f"org.example.Worker{number}"
        for member, body in [
            ("RequestName", GLib.Variant("(su)", (name, 0))),
            ("ReleaseName", GLib.Variant("(s)", (name,))),
        ]:
            flags = Gio.DBusCallFlags.NONE
            connection.call_sync(bus, "/org/freedesktop/DBus", bus, member, body, None, flags, -1)


def main():
    services = [indexer, sensors, backup, portal, listener, leaver]
    counted = [impatient, flood, storm]
    roles = {role.__name__: role for role in services + counted}
    role = roles[sys.argv[1]]
    if role in counted:
        role(int(sys.argv[2]))
    else:
        role()


main()
