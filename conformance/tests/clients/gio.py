"""The stream with GDBus of GLib: blocking calls, and its main loop for incoming messages."""

from gi.repository import Gio, GLib

import stream
from stream import INTERFACE, NAME, PATH

DESCRIPTION = f"""<node><interface name="{INTERFACE}">
<method name="Echo">
<arg type="u" direction="in"/><arg type="ay" direction="in"/><arg type="u" direction="out"/>
</method>
<method name="EchoFile">
<arg type="u" direction="in"/><arg type="ay" direction="in"/><arg type="h" direction="in"/>
<arg type="u" direction="out"/>
</method>
</interface></node>"""


def connect(address):
    flags = Gio.DBusConnectionFlags
    return Gio.DBusConnection.new_for_address_sync(
        address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None
    )


def serve(address):
    bus = connect(address)
    checks = stream.Service()

    def answer(_bus, _sender, _path, _interface, member, arguments, invocation):
        number = arguments.get_child_value(0).get_uint32()
        body = arguments.get_child_value(1).get_data_as_bytes().get_data()
        descriptor = None
        if member == "EchoFile":
            descriptors = invocation.get_message().get_unix_fd_list()
            descriptor = descriptors.get(arguments.get_child_value(2).get_handle())
        checks.take_call(number, body, descriptor)
        invocation.return_value(GLib.Variant("(u)", (number,)))

    def take(_bus, _sender, _path, _interface, member, arguments):
        number = arguments.get_child_value(0).get_uint32()
        checks.end(number) if member == "Done" else checks.take_signal(number)

    def closed(_bus, _vanished, error):
        stream.fail(f"the bus closed the connection before signal {checks.signals}: {error}")

    bus.connect("closed", closed)
    interface = Gio.DBusNodeInfo.new_for_xml(DESCRIPTION).interfaces[0]
    bus.register_object(PATH, interface, answer, None, None)
    bus.signal_subscribe(None, INTERFACE, None, PATH, None, Gio.DBusSignalFlags.NONE, take)
    call_bus = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"]
    request = GLib.Variant("(su)", (NAME, 0))
    bus.call_sync(*call_bus, "RequestName", request, None, Gio.DBusCallFlags.NONE, -1, None)
    print("ready", flush=True)
    GLib.MainLoop().run()


def send(address):
    bus = connect(address)

    def emit(member, number):
        bus.emit_signal(None, PATH, INTERFACE, member, GLib.Variant("(u)", (number,)))

    def call(member, number, body, descriptor=None):
        array = GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes(body), True)
        arguments, descriptors = [GLib.Variant.new_uint32(number), array], None
        if descriptor is not None:
            descriptors = Gio.UnixFDList()
            arguments.append(GLib.Variant.new_handle(descriptors.append(descriptor)))
        reply, _ = bus.call_with_unix_fd_list_sync(
            NAME, PATH, INTERFACE, member, GLib.Variant.new_tuple(*arguments),
            GLib.VariantType("(u)"), Gio.DBusCallFlags.NONE, -1, descriptors, None,
        )
        return reply.get_child_value(0).get_uint32()

    stream.stream(emit, call)
    bus.flush_sync(None)


stream.main(serve, send)
