class Proxy:
    """Base class of the proxies for the interfaces of an object."""

    INTERFACE: str

    def __init__(
        self,
        bus: Gio.DBusConnection | None = None,
        service: str = SERVICE,
        path: str = PATH,
    ) -> None:
        """Uses the session bus unless another is given. Sends no message."""
        self.bus = bus or Gio.bus_get_sync(Gio.BusType.SESSION)
        self.service = service
        self.path = path
        self.timeout_ms = -1

    def connect_properties_changed(
        self, handler: Callable[[dict[str, Any], list[str]], None]
    ) -> int:
        """Calls the handler with changed values and names of invalidated properties."""

        def changed(_bus, _sender, _path, _interface, _signal, arguments):
            handler(*arguments.unpack()[1:])

        return self._subscribe(_PROPERTIES, "PropertiesChanged", self.INTERFACE, changed)

    def disconnect(self, connected: int) -> None:
        """Removes a handler; takes the number that connect_... returned."""
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
