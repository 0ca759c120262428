#!/usr/bin/python3
"""A service and its caller with dbus-python: all types, large messages, descriptors, asynchronous
calls with a main loop, errors, signals and introspection. The output is the same for all libraries
with the interface of libdbus."""

import os
import subprocess
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

INTERFACE = "com.example.T"
PATH = "/com/example/T"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
NO_REPLY = "org.freedesktop.DBus.Error.NoReply"


class Service(dbus.service.Object):
    @dbus.service.method(INTERFACE, in_signature="v", out_signature="v")
    def Echo(self, value):
        return value

    @dbus.service.method(INTERFACE, in_signature="ay", out_signature="u")
    def Size(self, content):
        return len(content)

    @dbus.service.method(INTERFACE, in_signature="", out_signature="h")
    def Fd(self):
        reader, writer = os.pipe()
        os.write(writer, b"hello fd")
        os.close(writer)
        passed = dbus.types.UnixFd(reader)
        os.close(reader)
        return passed

    @dbus.service.method(
        INTERFACE, in_signature="s", out_signature="s", async_callbacks=("reply", "error")
    )
    def Later(self, text, reply, error):
        GLib.timeout_add(100, lambda: reply(text + "!") and False)

    @dbus.service.method(INTERFACE, async_callbacks=("reply", "error"))
    def Never(self, reply, error):
        pass

    @dbus.service.method(INTERFACE)
    def Fail(self):
        raise dbus.DBusException("boom", name="com.example.Boom")

    @dbus.service.method(INTERFACE, sender_keyword="sender", path_keyword="path")
    def Who(self, sender=None, path=None):
        return sender + path

    @dbus.service.signal(INTERFACE, signature="sa{sv}")
    def Emitted(self, text, details):
        pass

    @dbus.service.method(INTERFACE)
    def Emit(self):
        self.Emitted("x", dbus.Dictionary({"k": dbus.Int64(-5)}, signature="sv"))

    @dbus.service.method(INTERFACE)
    def Quit(self):
        GLib.timeout_add(10, loop.quit)


VALUES = [
    dbus.Byte(5),
    True,
    dbus.Int16(-3),
    dbus.UInt16(3),
    dbus.Int32(-9),
    dbus.UInt32(9),
    dbus.Int64(-(2**40)),
    dbus.UInt64(2**50),
    1.5,
    "str\u20ac",
    dbus.ObjectPath("/a/b"),
    dbus.Signature("a{sv}"),
    dbus.Array([1, 2, 3], signature="i"),
    dbus.Array([], signature="(sv)"),
    dbus.Struct((1, "a", dbus.Array([dbus.Struct((dbus.Byte(1), 2.5))]))),
    dbus.Dictionary(
        {"a": dbus.Array(["x", "y"], variant_level=1), "b": dbus.Int32(4, variant_level=1)},
        signature="sv",
    ),
    dbus.Dictionary({1: "a"}, signature="is"),
    dbus.String("vv", variant_level=3),
]


def serve():
    bus = dbus.SessionBus()
    name = dbus.service.BusName("com.example.T", bus)
    objects = [Service(bus, PATH), Service(bus, PATH + "/Child")]
    print("ready", flush=True)
    loop.run()
    del name, objects


def fails_with(name, call):
    """Checks that a call fails with this error, and returns its text."""
    try:
        call()
    except dbus.DBusException as error:
        assert error.get_dbus_name() == name, error
        return str(error)
    raise AssertionError(name)


def wait_until(condition):
    context = loop.get_context()
    while not condition():
        context.iteration(True)


def call_and_wait(bus, service):
    for value in VALUES:
        print(repr(service.Echo(value)))
        assert service.Echo(value) == value, value
    large = b"z" * 5000000
    assert service.Size(dbus.ByteArray(large)) == len(large)
    assert len(service.Echo(dbus.ByteArray(large), byte_arrays=True)) == len(large)
    fd = service.Fd().take()
    assert os.read(fd, 100) == b"hello fd"
    os.close(fd)
    print(fails_with("com.example.Boom", service.Fail))
    assert service.Who() == bus.get_unique_name() + PATH
    assert service.Later("a") == "a!"
    print(fails_with(NO_REPLY, lambda: service.Never(timeout=0.01)))


def introspect(bus):
    def introspected(path):
        found = bus.get_object("com.example.T", path)
        return found.Introspect(dbus_interface=INTROSPECTABLE)

    for path in [PATH, "/com", "/nope"]:
        print(introspected(path))
    parent = bus.get_object("com.example.T", "/com")
    unknown = "org.freedesktop.DBus.Error.UnknownMethod"
    print(fails_with(unknown, lambda: parent.Foo(dbus_interface="a.b")))


def call_and_continue(bus, service):
    got = []
    unexpected = []

    def error_name(error):
        got.append(error.get_dbus_name())

    bus.add_signal_receiver(
        lambda *values: got.append(values), dbus_interface=INTERFACE, signal_name="Emitted"
    )
    service.Emit(reply_handler=lambda: got.append("done"), error_handler=unexpected.append)
    service.Later("q", reply_handler=got.append, error_handler=unexpected.append)
    service.Fail(reply_handler=unexpected.append, error_handler=error_name)
    service.Never(timeout=0.02, reply_handler=unexpected.append, error_handler=error_name)
    wait_until(lambda: len(got) == 5 or unexpected)
    assert not unexpected, unexpected
    print(sorted(map(repr, got)))


loop = GLib.MainLoop()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
if sys.argv[1:] == ["serve"]:
    serve()
    sys.exit(0)
server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE)
server.stdout.readline()
session = dbus.SessionBus()
proxy = dbus.Interface(session.get_object("com.example.T", PATH), INTERFACE)
call_and_wait(session, proxy)
introspect(session)
call_and_continue(session, proxy)
proxy.Quit()
assert server.wait(60) == 0
folder = os.environ.get("LD_LIBRARY_PATH")
with open("/proc/self/maps") as maps:
    assert not folder or folder + "/libdbus-1.so.3" in maps.read()
print("OK")
