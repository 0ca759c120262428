"""The scenario of the system services and their clients."""

import os
import sys
from pathlib import Path

from processes import at_once

MOCK = "org.freedesktop.DBus.Mock"
NETWORK, NETWORK_PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
POWER, POWER_PATH = "org.freedesktop.UPower", "/org/freedesktop/UPower"
BLUEZ, BLUEZ_PATH = "org.bluez", "/"
LOGIN, LOGIN_PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
POLKIT = "org.freedesktop.PolicyKit1"
POLKITD = "/usr/lib/polkit-1/polkitd"

# Changes of the charge of a battery in each round.
CHARGES = 12
# One-shot clients of each of three kinds in each round.
ONE_SHOTS = 16


class System:
    """The scenario of a system bus."""

    def __init__(self, stage, rounds):
        self.stage = stage
        self.programs = stage.programs
        self.rounds = rounds
        self.real_polkit = False

    def play(self):
        self.start()
        at_once(self.network, self.power, self.bluetooth, self.login)
        self.programs.start("nmcli", "monitor")
        self.programs.start("upower", "--monitor-detail")
        for _ in range(self.rounds):
            at_once(self.clients, self.one_shots, self.changes)

    def start(self):
        templates = {"networkmanager": NETWORK, "upower": POWER, "bluez5": BLUEZ, "logind": LOGIN}
        # Only root can start the real polkitd, because it changes to another user.
        is_root = os.geteuid() == 0
        self.real_polkit = self.stage.other_users and is_root and Path(POLKITD).exists()
        if self.real_polkit:
            self.programs.start(POLKITD, "--no-debug")
        else:
            templates["polkitd"] = POLKIT
        for template in templates:
            mock = ["-m", "dbusmock", "--system", "--template", template]
            self.programs.start(sys.executable, *mock)
        for name in [*templates.values(), POLKIT]:
            self.programs.run("gdbus", "wait", "--system", "--timeout", "30", name)

    def call(self, name, path, method, *arguments, **options):
        words = ["gdbus", "call", "--system", "--dest", name, "--object-path", path]
        return self.programs.run(*words, "--method", method, *arguments, **options)

    def mock(self, name, path, method, *arguments):
        return self.call(name, path, f"{MOCK}.{method}", *arguments, expect="(")

    def network(self):
        devices = f"{NETWORK_PATH}/Devices"
        self.mock(NETWORK, NETWORK_PATH, "AddEthernetDevice", "eth0", "eth0", "100")
        self.mock(NETWORK, NETWORK_PATH, "AddWiFiDevice", "wifi0", "wlan0", "100")
        for number, ssid in enumerate(["Library", "Office", "Guest"]):
            point = [f"{devices}/wifi0", f"ap{number}", ssid, f"00:23:f8:7e:12:b{number}"]
            numbers = ["2", "2425", "5400", str(82 - 20 * number), "256"]
            self.mock(NETWORK, NETWORK_PATH, "AddAccessPoint", *point, *numbers)
        connection = [f"{devices}/wifi0", "library", "Library", "wpa-psk"]
        self.mock(NETWORK, NETWORK_PATH, "AddWiFiConnection", *connection)

    def power(self):
        self.mock(POWER, POWER_PATH, "AddAC", "mains", "Mains")
        self.mock(POWER, POWER_PATH, "AddDischargingBattery", "bat0", "Cell A", "80.0", "1200")
        self.mock(POWER, POWER_PATH, "AddChargingBattery", "bat1", "Cell B", "30.0", "3600")

    def bluetooth(self):
        interface = f"{BLUEZ}.Mock"
        self.call(BLUEZ, BLUEZ_PATH, f"{interface}.AddAdapter", "hci0", "desk", expect="hci0")
        for number, alias in enumerate(["Keyboard", "Headset"]):
            device = ["hci0", f"11:22:33:44:55:6{number}", alias]
            self.call(BLUEZ, BLUEZ_PATH, f"{interface}.AddDevice", *device, expect="hci0")

    def login(self):
        self.mock(LOGIN, LOGIN_PATH, "AddSeat", "seat0")
        self.mock(LOGIN, LOGIN_PATH, "AddUser", "1000", "reader", "true")
        self.mock(LOGIN, LOGIN_PATH, "AddSession", "c1", "seat0", "1000", "reader", "true")

    def clients(self):
        run = self.programs.run
        run("nmcli", "general", expect="connected")
        run("nmcli", "device", expect="wlan0")
        run("nmcli", "connection", expect="Library")
        run("nmcli", "device", "wifi", "list", "--rescan", "no", expect="Office")
        run("upower", "--dump", expect="Cell B")
        run("upower", "--enumerate", expect="bat0")
        commands = "list\ndevices\nshow\nquit\n"
        run("bluetoothctl", expect="Headset", lines=commands)
        # loginctl works only on a machine that systemd has booted.
        manager = f"{LOGIN}.Manager"
        self.call(LOGIN, LOGIN_PATH, f"{manager}.ListSessions", expect="c1")
        self.call(LOGIN, LOGIN_PATH, f"{manager}.ListUsers", expect="reader")
        self.authorize()

    def authorize(self):
        """Asks polkit whether this process is authorized, as services do before they act."""
        subject = f"('unix-process', {{'pid': <uint32 {os.getpid()}>, 'start-time': <uint64 0>}})"
        authority, path = f"{POLKIT}.Authority", f"/{POLKIT.replace('.', '/')}/Authority"
        arguments = [subject, "org.freedesktop.policykit.exec", "{}", "0", ""]
        self.call(POLKIT, path, f"{authority}.CheckAuthorization", *arguments, expect="((")
        if self.real_polkit:
            self.call(POLKIT, path, f"{authority}.EnumerateActions", "C", expect="(")

    def one_shots(self):
        address = f"--bus={self.stage.system}"
        busctl = ["busctl", f"--address={self.stage.system}", "--no-pager"]
        properties = "org.freedesktop.DBus.Properties"
        all_of = [f"{properties}.GetAll", f"string:{POWER}.Device"]
        battery = f"{POWER_PATH}/devices/bat0"
        reads = [
            ["dbus-send", address, "--print-reply", f"--dest={POWER}", battery, *all_of],
            ["gdbus", "call", "--system", "--dest", NETWORK, "--object-path", NETWORK_PATH, "--method", f"{NETWORK}.GetDevices"],
            [*busctl, "get-property", NETWORK, NETWORK_PATH, NETWORK, "State"],
        ]
        for _ in range(ONE_SHOTS):
            for words in reads:
                self.programs.run(*words)
        self.programs.run(*busctl, "list", expect=BLUEZ)
        self.programs.run(*busctl, "tree", "--list", NETWORK, expect="Devices/wifi0")
        self.programs.run(*busctl, "introspect", LOGIN, LOGIN_PATH, expect="Inhibit")

    def changes(self):
        """Changes of a battery, and a wireless network that appears and disappears."""
        battery = f"{POWER_PATH}/devices/bat0"
        for number in range(CHARGES):
            charge = f"{{'Percentage': <{80.0 - number}>}}"
            self.mock(POWER, POWER_PATH, "SetDeviceProperties", battery, charge)
        device = f"{NETWORK_PATH}/Devices/wifi0"
        point = [device, "ap9", "Street", "00:23:f8:7e:12:b9", "2", "2437", "5400", "20", "256"]
        self.mock(NETWORK, NETWORK_PATH, "AddAccessPoint", *point)
        self.mock(NETWORK, NETWORK_PATH, "RemoveAccessPoint", device, f"{NETWORK_PATH}/AccessPoint/ap9")
