"""A service with a property and a method for each value: python3 forms.py ADDRESS NAME PATH

Each line of standard input has the type and the text of a value, with a tab between them. One
interface has all values, and another has the values that busctl can print on their own.
"""

import sys

from gi.repository import Gio, GLib

ADDRESS, NAME, PATH = sys.argv[1:]
FORMS = [line.rstrip("\n").split("\t", 1) for line in sys.stdin]
VALUES = {
    f"Value{number}": GLib.Variant.parse(GLib.VariantType.new(types), text, None, None)
    for number, (types, text) in enumerate(FORMS)
}


def interface(name, is_in):
    members = "".join(
        f"""<method name="Echo{number}"><arg name="value" type="{types}" direction="in"/>
              <arg name="value" type="{types}" direction="out"/></method>
            <signal name="Said{number}"><arg type="{types}"/></signal>
            <property name="Value{number}" type="{types}" access="read"/>"""
        for number, (types, _) in enumerate(FORMS)
        if is_in(types)
    )
    return f"<interface name='{name}'>{members}</interface>"


def handle_call(_bus, _sender, _path, _interface, _method, arguments, invocation):
    invocation.return_value(arguments)


def get_property(_bus, _sender, _path, _interface, name):
    return VALUES[name]


FLAGS = (
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
)
bus = Gio.DBusConnection.new_for_address_sync(ADDRESS, FLAGS, None, None)
document = (
    "<node>"
    + interface("org.example.Forms1", lambda types: True)
    + interface("org.example.Plain1", lambda types: types[0] not in "v(")
    + "</node>"
)
for found in Gio.DBusNodeInfo.new_for_xml(document).interfaces:
    bus.register_object(PATH, found, handle_call, get_property, None)
loop = GLib.MainLoop()
Gio.bus_own_name_on_connection(
    bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: print("READY", flush=True), None
)
loop.run()
