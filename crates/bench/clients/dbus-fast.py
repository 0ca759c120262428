"""The workload through dbus-fast: a proxy and signals in the event loop of asyncio."""

import asyncio
import contextlib
import functools
import select

from dbus_fast import Message, introspection
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method

import bench

DESCRIPTION = introspection.Node.parse(
    f"""<node><interface name="{bench.INTERFACE}">
    <method name="{bench.METHOD}">
    <arg name="text" type="s" direction="in"/><arg name="back" type="s" direction="out"/>
    </method>
    <signal name="{bench.SIGNAL}">
    <arg name="sent_ns" type="t"/><arg name="payload" type="ay"/>
    </signal>
    </interface></node>"""
)


class Bench(ServiceInterface):
    """The object that the program serves."""

    @dbus_method()
    def Echo(self, text: "s") -> "s":
        return text


def in_event_loop(mode):
    @functools.wraps(mode)
    def run(*arguments):
        asyncio.run(mode(*arguments))

    return run


async def connect(address):
    try:
        return await MessageBus(bus_address=address).connect()
    except Exception as error:
        raise bench.Failed(f"there is no connection to {address}: {error}") from error


def proxy(bus, name):
    return bus.get_proxy_object(name, bench.PATH, DESCRIPTION).get_interface(bench.INTERFACE)


async def wait_for_end(bus):
    """Raises when the connection ends."""
    with contextlib.suppress(EOFError):
        await bus.wait_for_disconnect()
    raise bench.Failed("the bus closed the connection")


@in_event_loop
async def serve(address):
    bus = await connect(address)
    bus.export(bench.PATH, Bench(bench.INTERFACE))
    bench.print_line(bus.unique_name)
    await wait_for_end(bus)


@in_event_loop
async def call(address, destination, count, text):
    bus = await connect(address)
    echo = proxy(bus, destination).call_echo
    for _ in range(bench.warm_up_calls(count)):
        bench.check(await echo(text), text)

    bench.print_line("ready")
    while bench.read_line():
        ends = []
        begin = bench.now_ns()
        for _ in range(count):
            bench.check(await echo(text), text)
            ends.append(bench.now_ns())
        bench.report_calls(begin, ends)


def room_in_socket(bus):
    """Waits until the socket is writable. If it were full at the start of a message, dbus-fast 5.2
    would end the connection. poll(2) blocks the event loop, which has nothing else to do: each
    message is sent completely before the next one."""
    writable = select.poll()
    writable.register(bus._fd, select.POLLOUT)
    return writable.poll


@in_event_loop
async def emit(address, count, payload):
    bus = await connect(address)
    wait_for_room = room_in_socket(bus)
    bench.print_line(bus.unique_name)
    bench.wait_for_line()
    begin = bench.now_ns()
    for _ in range(count):
        arguments = [bench.now_ns(), payload]
        wait_for_room()
        # This call waits for the rest of a message that was not written at once, so no message is
        # queued or refused.
        await bus.send(
            Message.new_signal(bench.PATH, bench.INTERFACE, bench.SIGNAL, "tay", arguments)
        )
    bench.report_emission(count, bench.now_ns() - begin)
    bench.wait_for_end()


@in_event_loop
async def listen(address, sender, listening):
    bus = await connect(address)
    proxy(bus, sender).on_sample(listening.take)
    # Adding a rule does not wait for the bus. The bus replies to this call after it has handled the
    # rule.
    await bus.call(
        Message("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    )
    listening.ready()
    ended = asyncio.ensure_future(wait_for_end(bus))
    while not listening.over():
        await asyncio.wait([ended], timeout=bench.LOOK_EACH_MS / 1000)
        if ended.done():
            ended.result()
    ended.cancel()
    listening.report()


bench.main(serve, call, emit, listen)
