#!/usr/bin/python3
"""A service and its caller with dbus-python and the main loop of GLib, which use a lane."""

import subprocess
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.example.Lanes"


class Service(dbus.service.Object):
    @dbus.service.method(NAME, in_signature="t", out_signature="t")
    def Echo(self, number):
        return number

    @dbus.service.signal(NAME, signature="t")
    def Announced(self, number):
        pass

    @dbus.service.method(NAME, in_signature="t", out_signature="t")
    def Announce(self, number):
        self.Announced(number)
        return number

    @dbus.service.method(NAME)
    def Quit(self):
        GLib.timeout_add(10, loop.quit)


def statistics():
    bus_object = session.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus")
    found = bus_object.GetStats(dbus_interface="org.freedesktop.DBus.Debug.Stats")
    return found["org.diligence.Lanes"], found["org.diligence.Messages"]


def call_at_once(method, count):
    """Starts all calls, and runs the main loop until all have their replies."""
    got = []
    for number in range(count):
        method(number, reply_handler=got.append, error_handler=sys.exit)
    context = loop.get_context()
    while len(got) < count:
        context.iteration(True)
    assert got == list(range(count)), got


def call_one_by_one(method, count):
    for number in range(count):
        call_at_once(lambda _, number=number, **handlers: method(0, **handlers), 1)


loop = GLib.MainLoop()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
session = dbus.SessionBus()
if sys.argv[1:] == ["serve"]:
    owned = dbus.service.BusName(NAME, session)
    service = Service(session, "/")
    print("ready", flush=True)
    loop.run()
    sys.exit(0)
server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE)
server.stdout.readline()
proxy = dbus.Interface(session.get_object(NAME, "/", introspect=False), NAME)
for number in range(100):
    assert proxy.Echo(dbus.UInt64(number)) == number
lanes, before = statistics()
assert lanes == 1, lanes
for number in range(300):
    assert proxy.Echo(dbus.UInt64(number)) == number
call_one_by_one(proxy.get_dbus_method("Echo"), 300)
lanes, after = statistics()
assert lanes == 1 and after - before < 10, (lanes, after - before)
call_at_once(proxy.get_dbus_method("Echo"), 300)
signals = []
session.add_signal_receiver(signals.append, "Announced", NAME)
for number in range(100):
    seen = []
    proxy.Announce(
        number, reply_handler=lambda got: seen.append(list(signals)), error_handler=sys.exit
    )
    context = loop.get_context()
    while not seen:
        context.iteration(True)
    assert seen[0] == list(range(number + 1)), (number, seen)
assert statistics()[0] == 1
proxy.Quit()
assert server.wait(60) == 0
print("OK")
