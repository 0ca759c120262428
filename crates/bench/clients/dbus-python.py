"""The workload through dbus-python: a blocking proxy, and the main loop of GLib for incoming messages."""

import dbus
import dbus.connection
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

import bench


class Bench(dbus.service.Object):
    """The object that the program serves."""

    @dbus.service.method(bench.INTERFACE, in_signature="s", out_signature="s")
    def Echo(self, text):
        return text

    @dbus.service.signal(bench.INTERFACE, signature="tay")
    def Sample(self, sent_ns, payload):
        pass


def connect(address):
    loop = dbus.mainloop.glib.DBusGMainLoop()
    try:
        bus = dbus.bus.BusConnection(address, mainloop=loop)
    except dbus.DBusException as error:
        raise bench.Failed(f"there is no connection to {address}: {error}") from error
    bus.set_exit_on_disconnect(False)
    return bus


def fail_when_closed(bus, loop):
    """Ends the main loop when the connection closes. The returned list then has the reason."""
    closed = []

    def close(_connection):
        closed.append("the bus closed the connection")
        loop.quit()

    bus.call_on_disconnection(close)
    return closed


def run(bus, loop):
    closed = fail_when_closed(bus, loop)
    loop.run()
    if closed:
        raise bench.Failed(closed[0])


def serve(address):
    bus = connect(address)
    Bench(bus, bench.PATH)
    bench.print_line(bus.get_unique_name())
    run(bus, GLib.MainLoop())


def call(address, destination, count, text):
    bus = connect(address)
    # Without introspection the type of the argument determines the signature.
    proxy = bus.get_object(destination, bench.PATH, introspect=False)
    echo = proxy.get_dbus_method(bench.METHOD, bench.INTERFACE)
    for _ in range(bench.warm_up_calls(count)):
        bench.check(echo(text), text)

    bench.print_line("ready")
    while bench.read_line():
        ends = []
        begin = bench.now_ns()
        for _ in range(count):
            bench.check(echo(text), text)
            ends.append(bench.now_ns())
        bench.report_calls(begin, ends)


def emit(address, count, payload):
    bus = connect(address)
    served = Bench(bus, bench.PATH)
    payload = dbus.ByteArray(payload)
    queued = 0

    bench.print_line(bus.get_unique_name())
    bench.wait_for_line()
    begin = bench.now_ns()
    for _ in range(count):
        served.Sample(bench.now_ns(), payload)
        queued += len(payload) + bench.SIGNAL_OVERHEAD_BYTES
        # The queue of the library is unlimited, so no message is refused.
        if queued >= bench.FLUSH_EACH_BYTES:
            bus.flush()
            queued = 0
    bus.flush()
    if not bus.get_is_connected():
        raise bench.Failed("the bus closed the connection")
    bench.report_emission(count, bench.now_ns() - begin)
    bench.wait_for_end()


def listen(address, sender, listening):
    bus = connect(address)
    loop = GLib.MainLoop()

    def take(sent_ns, payload):
        listening.take(sent_ns, payload)
        if len(listening.delays) == listening.expected:
            loop.quit()

    def look():
        if listening.over():
            loop.quit()
        return GLib.SOURCE_CONTINUE

    # With byte_arrays, arrays of bytes arrive as bytes instead of a list of numbers.
    bus.add_signal_receiver(
        take, bench.SIGNAL, bench.INTERFACE, sender, bench.PATH, byte_arrays=True
    )
    # Adding a rule does not wait for the bus. The bus replies to this call after it has handled the
    # rule.
    bus.get_name_owner("org.freedesktop.DBus")
    GLib.timeout_add(bench.LOOK_EACH_MS, look)
    listening.ready()
    run(bus, loop)
    listening.report()


bench.main(serve, call, emit, listen)
