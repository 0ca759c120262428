"""A typical client with python3-dbus, which calls service.py on the same bus.

Arguments: the address of the bus. The exit status is 0 if all results are correct.
"""

import os
import sys

import dbus
import dbus.bus
import dbus.mainloop.glib
from gi.repository import GLib

NAME = "com.example.Service"
PATH = "/com/example/Object"
INTERFACE = "com.example.Interface"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
address = sys.argv[1]
connection = dbus.bus.BusConnection(address)
own_name = connection.get_unique_name()


def until(done):
    """Runs the main loop until done() returns true, for ten seconds at most."""
    loop = GLib.MainContext.default()
    timeout = GLib.timeout_add(10_000, lambda: sys.exit("nothing came"))
    while not done():
        loop.iteration(True)
    GLib.source_remove(timeout)


def fails_with(error, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except dbus.DBusException as exception:
        assert exception.get_dbus_name() == error, exception
        return str(exception)
    sys.exit(f"{call} did not fail with {error}")


# Method calls.
proxy = connection.get_object(NAME, PATH)
service = dbus.Interface(proxy, INTERFACE)
assert service.Greet("you") == f"Hello, you at {own_name}"
values = (
    "ü", -1, 2, -3, 4, -5, 6, 0.5, 7, True, "/a", ["a", ""], {"k": 1},
    dbus.Struct(("x", 1, [1.5]), variant_level=1),
)
assert service.Everything(*values) == values, service.Everything(*values)
assert "on principle" in fails_with("com.example.Error.Refused", service.Refuse)
fails_with("org.freedesktop.DBus.Error.UnknownMethod", service.Nonsense)
fails_with(
    "org.freedesktop.DBus.Error.ServiceUnknown",
    connection.get_object, "com.example.Nobody", PATH,
)

# Asynchronous calls, whose replies arrive in order.
answers = []
for number in range(100):
    service.Greet(
        str(number), reply_handler=answers.append,
        error_handler=lambda error: sys.exit(str(error)),
    )
until(lambda: len(answers) == 100)
assert answers == [f"Hello, {number} at {own_name}" for number in range(100)]

# Properties of an object.
properties = dbus.Interface(proxy, dbus.PROPERTIES_IFACE)
changes = []
proxy.connect_to_signal(
    "PropertiesChanged", lambda *change: changes.append(change),
    dbus_interface=dbus.PROPERTIES_IFACE,
)
properties.Set(INTERFACE, "Counter", dbus.UInt32(5))
assert properties.Get(INTERFACE, "Counter") == 5
until(lambda: changes)
assert changes == [(INTERFACE, {"Counter": 5}, [])]

# Signals: all, and those with a given first argument.
everything, chosen = [], []
service.connect_to_signal("Shouted", everything.append)
service.connect_to_signal("Shouted", chosen.append, arg0="two")
for text in ("one", "two", "three"):
    service.Shout(text)
until(lambda: len(everything) == 3)
assert (everything, chosen) == (["one", "two", "three"], ["two"])

# Names: waits for a name, and replaces the owner of another.
other = dbus.bus.BusConnection(address)
QUEUED, REPLACED = "com.example.Queued", "com.example.Replaced"
owners = []
connection.watch_name_owner(QUEUED, owners.append)
assert connection.request_name(QUEUED) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER
assert other.request_name(QUEUED) == dbus.bus.REQUEST_NAME_REPLY_IN_QUEUE
assert connection.release_name(QUEUED) == dbus.bus.RELEASE_NAME_REPLY_RELEASED
until(lambda: owners[-1:] == [other.get_unique_name()])
flags = dbus.bus.NAME_FLAG_ALLOW_REPLACEMENT
assert connection.request_name(REPLACED, flags) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER
flags = dbus.bus.NAME_FLAG_REPLACE_EXISTING
assert other.request_name(REPLACED, flags) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER
assert connection.get_name_owner(REPLACED) == other.get_unique_name()

# Credentials of other connections.
bus = dbus.Interface(
    connection.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus"),
    "org.freedesktop.DBus",
)
credentials = bus.GetConnectionCredentials(own_name)
assert credentials["UnixUserID"] == os.getuid(), credentials
assert credentials["ProcessID"] == os.getpid(), credentials
groups = sorted(set(os.getgroups()) | {os.getgid()})
assert list(credentials["UnixGroupIDs"]) == groups, credentials
assert bus.GetConnectionUnixUser(NAME) == os.getuid()
assert {NAME, own_name, "org.freedesktop.DBus"} <= set(bus.ListNames())

# The end of a service is detected.
owners.clear()
connection.watch_name_owner(REPLACED, owners.append)
other.close()
until(lambda: owners[-1:] == [own_name])
print("done")
