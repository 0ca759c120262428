"""What /org/example/Object of org.example.Service has, as it says itself.

Made by `diligence introspect --code`; a beginning, yours to change.
"""

from __future__ import annotations

import warnings
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


class ExampleTypes1(Proxy):
    """org.example.Types1

    org.example.Types1:
    @short_description: Values of every type

    Gives back what it gets.
    """

    INTERFACE = "org.example.Types1"

    def echo_numbers(
        self,
        byte: int,
        truth: bool,
        short: int,
        unsigned_short: int,
        int: int,
        unsigned: int,
        long: int,
        u_long: int,
        double: float,
    ) -> tuple[int, bool, int, int, int, int, int, int, float]:
        """EchoNumbers(y byte, b truth, n short, q unsignedShort, i int, u unsigned, x long, t ULong, d double) -> (y byte, b truth, n short, q unsignedShort, i int, u unsigned, x long, t ULong, d double)

        Gives back numbers. \"Quoted\", with a \\ and an end of comments: */
        """
        _results, _got = self._call(
            self.INTERFACE,
            "EchoNumbers",
            "(ybnqiuxtd)",
            (byte, truth, short, unsigned_short, int, unsigned, long, u_long, double),
        )
        return _results

    def echo_texts(self, text: str, path: str, types: str) -> tuple[str, str, str]:
        """EchoTexts(s text, o path, g types) -> (s text, o path, g types)"""
        _results, _got = self._call(
            self.INTERFACE, "EchoTexts", "(sog)", (text, path, types)
        )
        return _results

    def echo_variant(self, value: GLib.Variant) -> Any:
        """EchoVariant(v value) -> (v value)"""
        _results, _got = self._call(self.INTERFACE, "EchoVariant", "(v)", (value,))
        return _results[0]

    def echo_lists(
        self,
        arg0: bytes,
        arg1: list[str],
        arg2: list[int],
        arg3: list[bool],
        arg4: list[list[int]],
        arg5: list[str],
    ) -> tuple[bytes, list[str], list[int], list[bool], list[list[int]], list[str]]:
        """EchoLists(ay, as, ai, ab, aai, ao) -> (ay, as, ai, ab, aai, ao)"""
        _results, _got = self._call(
            self.INTERFACE,
            "EchoLists",
            "(ayasaiabaaiao)",
            (arg0, arg1, arg2, arg3, arg4, arg5),
        )
        return (
            bytes(_results[0]),
            _results[1],
            _results[2],
            _results[3],
            _results[4],
            _results[5],
        )

    def echo_struct(self, pair: tuple[str, int]) -> tuple[str, int]:
        """EchoStruct((si) pair) -> ((si) pair)"""
        _results, _got = self._call(self.INTERFACE, "EchoStruct", "((si))", (pair,))
        return _results[0]

    def echo_nested(
        self,
        dict: dict[str, GLib.Variant],
        tree: dict[str, dict[str, dict[str, GLib.Variant]]],
        structs: list[tuple[str, tuple[bool, GLib.Variant], bytes]],
    ) -> tuple[dict[str, Any], dict[str, dict[str, dict[str, Any]]], list[tuple[str, tuple[bool, Any], bytes]]]:
        """EchoNested(a{sv} dict, a{oa{sa{sv}}} tree, a(s(bv)ay) structs) -> (a{sv} dict, a{oa{sa{sv}}} tree, a(s(bv)ay) structs)"""
        _results, _got = self._call(
            self.INTERFACE,
            "EchoNested",
            "(a{sv}a{oa{sa{sv}}}a(s(bv)ay))",
            (dict, tree, structs),
        )
        return (
            _results[0],
            _results[1],
            [(_one0[0], _one0[1], bytes(_one0[2])) for _one0 in _results[2]],
        )

    def echo_descriptors(
        self, one: int, more: list[tuple[str, int]]
    ) -> tuple[int, list[tuple[str, int]]]:
        """EchoDescriptors(h one, a(sh) more) -> (h one, a(sh) more)"""
        _fds = Gio.UnixFDList()
        _results, _got = self._call(
            self.INTERFACE,
            "EchoDescriptors",
            "(ha(sh))",
            (_fds.append(one), [(_one0[0], _fds.append(_one0[1])) for _one0 in more]),
            _fds,
        )
        return (
            _got.get(_results[0]),
            [(_one0[0], _got.get(_one0[1])) for _one0 in _results[1]],
        )

    def echo_by_number(self, numbers: dict[float, str]) -> dict[float, str]:
        """EchoByNumber(a{ds} numbers) -> (a{ds} numbers)

        A key that Rust has no map for.
        """
        _results, _got = self._call(
            self.INTERFACE, "EchoByNumber", "(a{ds})", (numbers,)
        )
        return _results[0]

    def nothing(self) -> None:
        """Nothing()"""
        self._call(self.INTERFACE, "Nothing", "()", ())

    def refuse(self) -> None:
        """Refuse()"""
        self._call(self.INTERFACE, "Refuse", "()", ())

    def emit_changed(self) -> None:
        """EmitChanged()"""
        self._call(self.INTERFACE, "EmitChanged", "()", ())

    def forget(self, what: str) -> None:
        """Forget(s what)"""
        self._send(self.INTERFACE, "Forget", "(s)", (what,))

    def get_all_xyz(self, from_: str, type: str, class_: str, self_: str) -> None:
        """GetAllXYZ(s from, s type, s class, s self)

        Deprecated.
        """
        warnings.warn("GetAllXYZ is deprecated", DeprecationWarning, stacklevel=2)
        self._call(self.INTERFACE, "GetAllXYZ", "(ssss)", (from_, type, class_, self_))

    def import_(self) -> None:
        """import()"""
        self._call(self.INTERFACE, "import", "()", ())

    def match(self) -> None:
        """Match()"""
        self._call(self.INTERFACE, "Match", "()", ())

    def new(self) -> None:
        """New()"""
        self._call(self.INTERFACE, "New", "()", ())

    def set_level(self, level: int) -> None:
        """SetLevel(u level)"""
        self._call(self.INTERFACE, "SetLevel", "(u)", (level,))

    @property
    def level(self) -> int:
        """Level: u

        How loud it is.
        """
        _value, _got = self._get("Level")
        return _value

    @level.setter
    def level(self, value: int) -> None:
        self._set("Level", GLib.Variant("u", value))

    @property
    def names(self) -> list[str]:
        """Names: as; changes are announced without the value"""
        _value, _got = self._get("Names")
        return _value

    @names.setter
    def names(self, value: list[str]) -> None:
        self._set("Names", GLib.Variant("as", value))

    @property
    def options(self) -> dict[str, Any]:
        """Options: a{sv}; changes are not announced"""
        _value, _got = self._get("Options")
        return _value

    @options.setter
    def options(self, value: dict[str, GLib.Variant]) -> None:
        self._set("Options", GLib.Variant("a{sv}", value))

    @property
    def pair(self) -> tuple[str, int]:
        """Pair: (si)"""
        _value, _got = self._get("Pair")
        return _value

    @pair.setter
    def pair(self, value: tuple[str, int]) -> None:
        self._set("Pair", GLib.Variant("(si)", value))

    @property
    def version(self) -> str:
        """Version: s; it never changes

        Deprecated.
        """
        warnings.warn("Version is deprecated", DeprecationWarning, stacklevel=2)
        _value, _got = self._get("Version")
        return _value

    def set_secret(self, value: str) -> None:
        """Secret: s"""
        self._set("Secret", GLib.Variant("s", value))

    def connect_changed(
        self, handler: Callable[[str, bytes, dict[str, Any]], None]
    ) -> int:
        """Changed(s text, ay bytes, a{sv} dict)"""
        return self._connect("Changed", lambda _0, _1, _2: handler(_0, bytes(_1), _2))

    def connect_struct_changed(self, handler: Callable[[tuple[str, int]], None]) -> int:
        """StructChanged((si) pair)"""
        return self._connect("StructChanged", handler)

    def connect_bare(self, handler: Callable[[], None]) -> int:
        """Bare()"""
        return self._connect("Bare", handler)


class OtherTypes1(Proxy):
    """org.example.other.Types1"""

    INTERFACE = "org.example.other.Types1"

    def nothing(self) -> None:
        """Nothing()"""
        self._call(self.INTERFACE, "Nothing", "()", ())

    def connect_changed(self, handler: Callable[[], None]) -> int:
        """Changed()"""
        return self._connect("Changed", handler)
