"""Connects with jeepney to the address of the argument, and prints the id of the bus."""

import sys

from jeepney import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection

with open_dbus_connection(sys.argv[1]) as bus:
    print(*Proxy(message_bus, bus).GetId())
