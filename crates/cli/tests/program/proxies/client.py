"""Calls a service through generated proxies: python3 client.py ADDRESS

The module proxies.py with the proxies must be in PYTHONPATH.
"""

import os
import sys
import warnings

from gi.repository import Gio, GLib

import proxies

FLAGS = (
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
)
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], FLAGS, None, None)
loop = GLib.MainLoop()


def wait(done):
    """Run the main loop until done() is true, for at most ten seconds."""
    timeout = GLib.timeout_add_seconds(10, lambda: sys.exit("no signal arrived"))
    while not done():
        loop.get_context().iteration(True)
    GLib.source_remove(timeout)


types = proxies.ExampleTypes1(bus)
print("numbers", *types.echo_numbers(7, True, -2, 3, -70000, 70000, -5, 5, 1.5))
print("texts", *types.echo_texts("one", "/a/b", "a{sv}"))
print("variant", types.echo_variant(GLib.Variant("s", "inside")))
lists = types.echo_lists(b"\x00\xff", ["a", "b"], [1, -2], [True, False], [[], [3]], ["/", "/a"])
assert lists == (b"\x00\xff", ["a", "b"], [1, -2], [True, False], [[], [3]], ["/", "/a"]), lists
print("lists", len(lists[0]), *lists[1], *lists[2])
print("struct", *types.echo_struct(("left", 4)))
nested = (
    {"a": GLib.Variant("i", 1)},
    {"/a": {"b": {"c": GLib.Variant("y", 2)}}},
    [("x", (True, GLib.Variant("s", "y")), b"z")],
)
unpacked = ({"a": 1}, {"/a": {"b": {"c": 2}}}, [("x", (True, "y"), b"z")])
assert types.echo_nested(*nested) == unpacked, types.echo_nested(*nested)
print("nested", unpacked[0]["a"], unpacked[1]["/a"]["b"]["c"], unpacked[2][0][0])

read, write = os.pipe()
one, more = types.echo_descriptors(write, [("read", read)])
os.write(one, b"through")
print("descriptors", os.read(more[0][1], 100).decode())
assert types.echo_by_number({0.5: "half"}) == {0.5: "half"}

types.nothing()
try:
    types.refuse()
except GLib.Error as error:
    print("refused", Gio.DBusError.get_remote_error(error))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    types.get_all_xyz("a", "b", "c", "d")
    assert [one.category for one in caught] == [DeprecationWarning]
    print("version", types.version)
types.forget("forgotten")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print("version", types.version)
    types.set_secret("secret")
    print("version", types.version)

print("level", types.level)
levels = []
connected = types.connect_properties_changed(lambda changed, _: levels.append(changed["Level"]))
types.level = 8
wait(lambda: levels)
types.disconnect(connected)
print("level", types.level, "signaled", *levels)
types.set_level(9)
print("level", types.level)
types.names = ["three"]
print("names", *types.names)
types.options = {"loud": GLib.Variant("b", True)}
assert types.options == {"loud": True}
types.pair = ("right", 5)
print("pair", *types.pair)

received = []
types.connect_changed(lambda text, data, options: received.append((text, data, options)))
types.connect_struct_changed(lambda pair: received.append(pair))
types.connect_bare(lambda: received.append("bare"))
types.emit_changed()
wait(lambda: len(received) == 3)
(text, data, options), pair, bare = received
assert data == b"\x00\x01\xff"
print("changed", text, len(data), options["why"])
print("struct changed", *pair)
print(bare)

proxies.OtherTypes1(bus).nothing()
