"""A typical service with python3-dbus: methods, a property, signals.

Arguments: the address of the bus. Prints "ready" when it owns its name.
"""

import sys

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "com.example.Service"
PATH = "/com/example/Object"
INTERFACE = "com.example.Interface"
EVERYTHING = "snqiuxtdyboasa{si}v"


class Refused(dbus.DBusException):
    _dbus_error_name = "com.example.Error.Refused"


class Service(dbus.service.Object):
    counter = 1

    @dbus.service.method(INTERFACE, in_signature=EVERYTHING, out_signature=EVERYTHING)
    def Everything(self, s, n, q, i, u, x, t, d, y, b, o, strings, numbers, v):
        return s, n, q, i, u, x, t, d, y, b, o, strings, numbers, v

    @dbus.service.method(INTERFACE, in_signature="s", out_signature="s", sender_keyword="sender")
    def Greet(self, name, sender):
        return f"Hello, {name} at {sender}"

    @dbus.service.method(INTERFACE, in_signature="", out_signature="")
    def Refuse(self):
        raise Refused("on principle")

    @dbus.service.method(INTERFACE, in_signature="s", out_signature="")
    def Shout(self, text):
        self.Shouted(text)

    @dbus.service.signal(INTERFACE, signature="s")
    def Shouted(self, text):
        pass

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.GetAll(interface)[name]

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return {"Counter": dbus.UInt32(self.counter)}

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ssv", out_signature="")
    def Set(self, interface, name, value):
        self.counter = value
        self.PropertiesChanged(interface, {name: value}, [])

    @dbus.service.signal(dbus.PROPERTIES_IFACE, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
connection = dbus.bus.BusConnection(sys.argv[1])
name = dbus.service.BusName(NAME, connection)
Service(connection, PATH)
loop = GLib.MainLoop()
connection.call_on_disconnection(lambda _: loop.quit())
print("ready", flush=True)
loop.run()
