"""The stream with dbus-python: blocking calls, and the main loop of GLib for incoming messages."""

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

import stream
from stream import INTERFACE, NAME, PATH


class Object(dbus.service.Object):
    """The object that the service offers."""

    checks = stream.Service()

    @dbus.service.method(INTERFACE, in_signature="uay", out_signature="u", byte_arrays=True)
    def Echo(self, number, body):
        return self.checks.take_call(number, body)

    @dbus.service.method(INTERFACE, in_signature="uayh", out_signature="u", byte_arrays=True)
    def EchoFile(self, number, body, file):
        return self.checks.take_call(number, body, file.take())


def connect(address):
    bus = dbus.bus.BusConnection(address, mainloop=dbus.mainloop.glib.DBusGMainLoop())
    bus.set_exit_on_disconnect(False)
    return bus


def serve(address):
    bus = connect(address)
    checks = Object(bus, PATH).checks
    bus.call_on_disconnection(
        lambda _: stream.fail(f"the bus closed the connection before signal {checks.signals}")
    )
    bus.add_signal_receiver(checks.take_signal, "Numbered", INTERFACE, path=PATH)
    bus.add_signal_receiver(checks.end, "Done", INTERFACE, path=PATH)
    bus.request_name(NAME)
    print("ready", flush=True)
    GLib.MainLoop().run()


def send(address):
    bus = connect(address)

    def emit(member, number):
        signal = dbus.lowlevel.SignalMessage(PATH, INTERFACE, member)
        signal.append(number, signature="u")
        bus.send_message(signal)

    def call(member, number, body, descriptor=None):
        signature, arguments = "uay", [number, dbus.ByteArray(body)]
        if descriptor is not None:
            signature, arguments = "uayh", [*arguments, dbus.types.UnixFd(descriptor)]
        return bus.call_blocking(NAME, PATH, INTERFACE, member, signature, arguments)

    stream.stream(emit, call)
    bus.flush()


stream.main(serve, send)
