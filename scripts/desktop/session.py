"""The scenario of the programs in a user's session."""

import sys
import time

from buses import PEERS, SERVICES
from processes import at_once

BURST_SIGNALS = 400
FLOOD_CALLS = 1500
STORM_NAMES = 100
# One-shot clients of each of three kinds in each round.
ONE_SHOTS = 22

INDEXER = ["--dest", "org.example.Indexer", "--object-path", "/org/example/Indexer"]
PORTAL = ["--dest", "org.freedesktop.portal.Desktop"]
PORTAL += ["--object-path", "/org/freedesktop/portal/desktop"]


class Session:
    """The scenario of a session bus."""

    def __init__(self, stage, rounds):
        self.stage = stage
        self.programs = stage.programs
        self.rounds = rounds

    def play(self):
        self.start()
        at_once(self.slow_start, self.desktop)
        for _ in range(self.rounds):
            at_once(self.one_shots, self.trouble)

    def peer(self, role, *words, **options):
        return self.programs.run(sys.executable, PEERS, role, *words, **options)

    def call(self, words, method, *arguments, **options):
        command = ["gdbus", "call", "--session", *words, "--method", method, *arguments]
        return self.programs.run(*command, **options)

    def start(self):
        """Starts the programs that run until the end."""
        for _ in range(3):
            self.programs.start(sys.executable, PEERS, "listener")
        template = "notification_daemon"
        mock = ["-m", "dbusmock", "--session", "--template", template]
        self.programs.start(sys.executable, *mock)
        self.programs.start("gsettings", "monitor", "org.gnome.desktop.interface")
        if not self.stage.activates:
            # A service that needs another service waits until it is available.
            for name, command in SERVICES.items():
                if name not in ("org.freedesktop.portal.Desktop", "org.example.Broken"):
                    self.programs.start(*command.split())
                if "impl.portal" in name:
                    self.await_name(name)
            self.programs.start(SERVICES["org.freedesktop.portal.Desktop"])
            for name in set(SERVICES) - {"org.example.Broken", "org.example.Backup"}:
                self.await_name(name)
        self.await_name("org.freedesktop.Notifications")

    def await_name(self, name):
        self.programs.run("gdbus", "wait", "--session", "--timeout", "30", name)

    def slow_start(self):
        """Programs that wait for a service that takes seconds to start."""
        words = ["--dest", "org.example.Backup", "--object-path", "/org/example/Backup"]

        def ask():
            if not self.stage.activates:
                self.await_name("org.example.Backup")
            self.call(words, "org.example.Backup.Status", expect="idle")

        at_once(ask, ask, ask)

    def desktop(self):
        at_once(self.settings, self.files, self.accessibility, self.portal, self.notifications)

    def settings(self):
        schema = "org.gnome.desktop.interface"
        for value in ["12h", "24h"]:
            self.programs.run("gsettings", "set", schema, "clock-format", value)
            self.programs.run("gsettings", "get", schema, "clock-format", expect=value)
        self.programs.run("gsettings", "reset", schema, "clock-format")

    def files(self):
        letter = self.stage.desk.folder / "home" / "letter.txt"
        letter.write_text("Dear reader\n")
        self.programs.run("gio", "mount", "--list")
        self.programs.run("gio", "list", "trash:///")
        self.programs.run("gio", "info", str(letter), expect="standard::size: 12")
        self.programs.run("gio", "set", str(letter), "metadata::read", "yes")
        self.programs.run("gio", "list", "computer:///")

    def accessibility(self):
        words = ["--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus"]
        said = self.call(words, "org.a11y.Bus.GetAddress", expect="unix:path=")
        address = said.strip().strip("()',")
        registry = "org.a11y.atspi.Registry"
        # The launcher gives the address of the accessibility bus, on which the registry runs.
        words = ["gdbus", "call", "--address", address, "--dest", registry]
        path = "/org/a11y/atspi/accessible/root"
        ask = ["--object-path", path, "--method", "org.a11y.atspi.Accessible.GetChildren"]
        self.programs.run(*words, *ask, expect="(")

    def portal(self):
        settings = "org.freedesktop.portal.Settings"
        theme = ["org.freedesktop.appearance", "color-scheme"]
        self.call(PORTAL, f"{settings}.Read", *theme, expect="<<uint32 1>>")
        self.call(PORTAL, f"{settings}.ReadAll", "['org.freedesktop.*']", expect="color-scheme")
        self.call(PORTAL, f"{settings}.Read", "org.example", "none", status=1, expect="NotFound")
        chooser = "org.freedesktop.portal.FileChooser.OpenFile"
        self.call(PORTAL, chooser, "", "A letter", "{}", expect="/request/")

    def notifications(self):
        for number in range(4):
            words = ["--app-name=backup", f"--expire-time={1000 * number}"]
            self.programs.run("notify-send", *words, "Backup", f"File {number} is stored")

    def one_shots(self):
        """Short-lived clients of three libraries."""
        bus = "org.freedesktop.DBus"
        name = "org.example.Sensors"
        sensor = "/org/example/Sensor/1"
        session = f"--bus={self.stage.session}"
        busctl = f"--address={self.stage.session}"
        reads = [
            ["dbus-send", session, "--print-reply", f"--dest={name}", sensor, "org.example.Sensor.Read"],
            ["gdbus", "call", "--session", "--dest", bus, "--object-path", "/", "--method", f"{bus}.ListNames"],
            ["busctl", busctl, "get-property", name, sensor, "org.example.Sensor", "Value"],
        ]
        for _ in range(ONE_SHOTS):
            for words in reads:
                self.programs.run(*words)
        self.programs.run("busctl", busctl, "list", "--no-pager", expect=name)
        self.programs.run("busctl", busctl, "tree", "--no-pager", "--list", name, expect=sensor)
        self.programs.run("gdbus", "introspect", "--session", "--dest", name, "--object-path", sensor, expect="Burst")

    def trouble(self):
        """Slow calls, errors and load, which users record to find the cause."""
        at_once(self.slow, self.errors, self.busy)

    def slow(self):
        search = "org.example.Indexer.Search"
        at_once(*[lambda: self.call(INDEXER, search, "letter", expect="letter.txt")] * 4)
        self.peer("impatient", "3")
        at_once(*[lambda: self.peer("leaver")] * 3)
        words = ["dbus-send", "--session", "--print-reply", "--reply-timeout=50"]
        words += ["--dest=org.example.Indexer", "/org/example/Indexer"]
        for method in ["Search", "Ignore"]:
            argument = ["string:late"] if method == "Search" else []
            self.programs.run(*words, f"org.example.Indexer.{method}", *argument, status=1, expect="NoReply")
        # The service works on one call at a time: now it has replied to every caller that left.
        self.call(INDEXER, search, "letter", expect="letter.txt")

    def errors(self):
        failure = "org.example.Indexer.Fail"
        locked = "org.example.Error.Locked"
        for _ in range(5):
            self.call(INDEXER, failure, locked, status=1, expect=locked)
        self.call(INDEXER, "org.example.Indexer.Missing", status=1, expect="UnknownMethod")
        missing = ["--dest", "org.example.Missing", "--object-path", "/"]
        self.call(missing, "org.example.Missing.Call", status=1, expect="ServiceUnknown")
        broken = ["--dest", "org.example.Broken", "--object-path", "/"]
        error = "Spawn" if self.stage.activates else "NameHasNoOwner"
        self.call(broken, "org.example.Broken.Call", status=1, expect=error)

    def busy(self):
        words = ["--dest", "org.example.Sensors", "--object-path", "/org/example/Sensor/0"]
        self.call(words, "org.example.Sensor.Burst", str(BURST_SIGNALS))
        self.peer("flood", str(FLOOD_CALLS))
        self.peer("storm", str(STORM_NAMES))
        time.sleep(0.2)
