"""A service with the interfaces of a document: python3 service.py ADDRESS NAME PATH DOCUMENT

A method returns its arguments if they have the types of its results. Otherwise its name says what it
does. Properties keep their values.
"""

import sys

from gi.repository import Gio, GLib

ADDRESS, NAME, PATH, DOCUMENT = sys.argv[1:]

VALUES = {
    "Level": GLib.Variant("u", 7),
    "Names": GLib.Variant("as", ["one", "two"]),
    "Options": GLib.Variant("a{sv}", {"deep": GLib.Variant("aai", [[], [3]])}),
    "Pair": GLib.Variant("(si)", ("left", -1)),
    "Version": GLib.Variant("s", "1.0"),
    "Secret": GLib.Variant("s", ""),
}

CHANGED = {
    "Changed": GLib.Variant(
        "(saya{sv})", ("now", [0, 1, 255], {"why": GLib.Variant("s", "because")})
    ),
    "StructChanged": GLib.Variant("((si))", (("pair", 2),)),
    "Bare": GLib.Variant("()", ()),
}


def types(arguments):
    return "(" + "".join(argument.signature for argument in arguments) + ")"


def announce(interface, name):
    changed = GLib.Variant("(sa{sv}as)", (interface, {name: VALUES[name]}, []))
    bus.emit_signal(None, PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", changed)


def handle_call(_bus, _sender, _path, interface, method, arguments, invocation):
    results = types(invocation.get_method_info().out_args)
    if method == "Refuse":
        invocation.return_dbus_error("org.example.Error.Refused", "not for you")
        return
    if method == "EmitChanged":
        for name, values in CHANGED.items():
            bus.emit_signal(None, PATH, interface, name, values)
    if method == "SetLevel":
        VALUES["Level"] = arguments.get_child_value(0)
        announce(interface, "Level")
    if method == "Forget":
        VALUES["Version"] = arguments.get_child_value(0)
        return
    if results == arguments.get_type_string():
        fds = invocation.get_message().get_unix_fd_list()
        invocation.return_value_with_unix_fd_list(arguments, fds)
        return
    assert results == "()", results
    invocation.return_value(None)


def get_property(_bus, _sender, _path, _interface, name):
    return VALUES[name]


def set_property(_bus, _sender, _path, interface, name, value):
    VALUES["Version" if name == "Secret" else name] = value
    if name == "Level":
        announce(interface, name)
    return True


FLAGS = (
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
)
bus = Gio.DBusConnection.new_for_address_sync(ADDRESS, FLAGS, None, None)
with open(DOCUMENT, encoding="utf-8") as document:
    node = Gio.DBusNodeInfo.new_for_xml(document.read())
for interface in node.interfaces:
    bus.register_object(PATH, interface, handle_call, get_property, set_property)
loop = GLib.MainLoop()
Gio.bus_own_name_on_connection(
    bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: print("READY", flush=True), None
)
loop.run()
