"""An activatable service that starts in one of several ways: python3 starting.py NAME WAY [OTHER]

late    acquires its name 0.8 s after it has connected
leave   acquires its name, and exits when it is called
needs   calls the service OTHER before it acquires its name, and exits with status 5 if that fails
crash   calls the service OTHER before it acquires its name, and crashes if that fails
ignore  calls the service OTHER, ignores an error, and then exits with status 7
start   activates the service OTHER before it acquires its name, and ignores an error
"""

import os
import signal
import sys
import time

from gi.repository import Gio, GLib

NAME, WAY, *OTHER = sys.argv[1:]
BUS = "org.freedesktop.DBus"
FLAGS = (
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
)
connection = Gio.DBusConnection.new_for_address_sync(
    os.environ["DBUS_STARTER_ADDRESS"], FLAGS, None, None
)
# The process ends when its bus ends.
connection.set_exit_on_close(True)


def call(destination, path, interface, member, arguments):
    return connection.call_sync(
        destination, path, interface, member, arguments, None, Gio.DBusCallFlags.NONE, -1, None
    )


def answer(_connection, message, incoming):
    is_call = message.get_message_type() == Gio.DBusMessageType.METHOD_CALL
    if not incoming or not is_call or message.get_interface() != "org.example.Test":
        return message
    if WAY == "leave":
        os._exit(0)
    reply = message.new_method_reply()
    connection.send_message(reply, Gio.DBusSendMessageFlags.NONE)
    return None


connection.add_filter(answer)
if WAY == "late":
    time.sleep(0.8)
if WAY in ("needs", "crash", "ignore"):
    try:
        call(OTHER[0], "/", "org.example.Test", "Ask", None)
    except GLib.Error:
        if WAY == "needs":
            os._exit(5)
        if WAY == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
if WAY == "ignore":
    call(BUS, "/", BUS, "AddMatch", GLib.Variant("(s)", ("type='signal'",)))
    os._exit(7)
if WAY == "start":
    call(BUS, "/", BUS, "StartServiceByName", GLib.Variant("(su)", (OTHER[0], 0)))
call(BUS, "/", BUS, "RequestName", GLib.Variant("(su)", (NAME, 0)))
GLib.MainLoop().run()
