"""What /org/example/Object of org.example.Service has, as it says itself.

Made by `diligence introspect --code`; a beginning, yours to change.
"""

from __future__ import annotations

from typing import Any, Callable

from gi.repository import Gio, GLib

SERVICE = "org.example.Service"
PATH = "/org/example/Object"


class Proxy:
    """An object of a service. What it has is in the classes below."""

    INTERFACE: str

    def __init__(
        self,
        bus: Gio.DBusConnection | None = None,
        service: str = SERVICE,
        path: str = PATH,
    ) -> None:
        """On the session bus, if no other is given. Nothing is sent yet."""
        self.bus = bus or Gio.bus_get_sync(Gio.BusType.SESSION)
        self.service = service
        self.path = path
        self.timeout_ms = -1

    def connect_properties_changed(
        self, handler: Callable[[dict[str, Any], list[str]], None]
    ) -> int:
        """Calls it with new values, and with names of properties that have others now."""

        def changed(_bus, _sender, _path, _interface, _signal, arguments):
            handler(*arguments.unpack()[1:])

        return self._subscribe(_PROPERTIES, "PropertiesChanged", self.INTERFACE, changed)

    def disconnect(self, connected: int) -> None:
        """Ends what one of the functions connect_... has begun."""
        self.bus.signal_unsubscribe(connected)

    def _call(self, interface, member, types, arguments, fds=None):
        reply, fds = self.bus.call_with_unix_fd_list_sync(
            self.service,
            self.path,
            interface,
            member,
            GLib.Variant(types, arguments),
            None,
            Gio.DBusCallFlags.NONE,
            self.timeout_ms,
            fds,
            None,
        )
        return reply.unpack(), fds

    def _send(self, interface, member, types, arguments, fds=None):
        message = Gio.DBusMessage.new_method_call(self.service, self.path, interface, member)
        message.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
        message.set_body(GLib.Variant(types, arguments))
        if fds is not None:
            message.set_unix_fd_list(fds)
        self.bus.send_message(message, Gio.DBusSendMessageFlags.NONE)

    def _get(self, name):
        values, fds = self._call(_PROPERTIES, "Get", "(ss)", (self.INTERFACE, name))
        return values[0], fds

    def _set(self, name, value, fds=None):
        self._call(_PROPERTIES, "Set", "(ssv)", (self.INTERFACE, name, value), fds)

    def _connect(self, member, handler):
        def emitted(_bus, _sender, _path, _interface, _signal, arguments):
            handler(*arguments.unpack())

        return self._subscribe(self.INTERFACE, member, None, emitted)

    def _subscribe(self, interface, member, argument, handler):
        return self.bus.signal_subscribe(
            self.service,
            interface,
            member,
            self.path,
            argument,
            Gio.DBusSignalFlags.NONE,
            handler,
        )


_PROPERTIES = "org.freedesktop.DBus.Properties"


class Twice1(Proxy):
    """org.example.Twice1"""

    INTERFACE = "org.example.Twice1"

    def m(self) -> None:
        """M()"""
        self._call(self.INTERFACE, "M", "()", ())


class Self(Proxy):
    """org.example.Self"""

    INTERFACE = "org.example.Self"


class N1(Proxy):
    """org.example._1"""

    INTERFACE = "org.example._1"


class Hostile1(Proxy):
    """org.example.Hostile1

    */ int main() /* \"\"\" import os
    ?�?/ \\u0041 \\
    Deprecated.
    """

    INTERFACE = "org.example.Hostile1"

    def odd(self, arg0: str, arg1: str, n1: str, a_b: str, a_b_2: str) -> None:
        """Odd(s */ \" \\, s �, s 1, s a_b, s aB)"""
        self._call(self.INTERFACE, "Odd", "(sssss)", (arg0, arg1, n1, a_b, a_b_2))

    def same(self, arg0: str) -> None:
        """Same(s)"""
        self._call(self.INTERFACE, "Same", "(s)", (arg0,))

    def same_2(self, arg0: int) -> None:
        """Same(u)"""
        self._call(self.INTERFACE, "Same", "(u)", (arg0,))

    def same_3(self) -> None:
        """same()"""
        self._call(self.INTERFACE, "same", "()", ())

    def unnamed(self) -> None:
        """_()"""
        self._call(self.INTERFACE, "_", "()", ())

    def init(self) -> None:
        """__init__()"""
        self._call(self.INTERFACE, "__init__", "()", ())

    def counted(self, list: list[int], list_count: int) -> None:
        """Counted(ai list, u list_count)"""
        self._call(self.INTERFACE, "Counted", "(aiu)", (list, list_count))

    def seventeen(
        self,
        arg0: tuple[int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int],
    ) -> None:
        """Seventeen((yyyyyyyyyyyyyyyyy))"""
        self._call(self.INTERFACE, "Seventeen", "((yyyyyyyyyyyyyyyyy))", (arg0,))

    def keys(self) -> dict[int, str]:
        """Keys() -> (a{hs})"""
        _results, _got = self._call(self.INTERFACE, "Keys", "()", ())
        return {_got.get(_key0): _one0 for _key0, _one0 in _results[0].items()}

    def property_(self) -> None:
        """Property()"""
        self._call(self.INTERFACE, "Property", "()", ())

    def bus_(self) -> None:
        """Bus()"""
        self._call(self.INTERFACE, "Bus", "()", ())

    @property
    def same_4(self) -> str:
        """Same: s"""
        _value, _got = self._get("Same")
        return _value

    @same_4.setter
    def same_4(self, value: str) -> None:
        self._set("Same", GLib.Variant("s", value))

    @property
    def twice(self) -> str:
        """Twice: s"""
        _value, _got = self._get("Twice")
        return _value

    @property
    def keyed(self) -> dict[str, dict[int, Any]]:
        """Keyed: a{sa{uv}}"""
        _value, _got = self._get("Keyed")
        return _value

    def connect_string(self, handler: Callable[[], None]) -> int:
        """String()"""
        return self._connect("String", handler)

    def connect_type(self, handler: Callable[[], None]) -> int:
        """type()"""
        return self._connect("type", handler)

    def connect_same(self, handler: Callable[[], None]) -> int:
        """Same()"""
        return self._connect("Same", handler)

    def connect_twice(self, handler: Callable[[], None]) -> int:
        """Twice()"""
        return self._connect("Twice", handler)

    # Left out: method ") os.system("true: not a valid member name
    # Left out: method */ x�y: not a valid member name
    # Left out: method Types: its signature is invalid, or has several types
    # Left out: method NoTypes: its signature is invalid, or has several types
    # Left out: method Same: it is declared twice
    # Left out: property Twice: it is declared twice
    # Left out: property None: its signature is invalid, or has several types
    # Left out: signal Twice: it is declared twice
    # Left out: signal Descriptor: GLib does not tell the descriptors of signals

# Left out: interface no interface"); drop();: not a valid interface name

# Left out: interface org.example.Twice1: it is declared twice
