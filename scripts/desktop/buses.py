"""Private buses, the services that they may start, and their recorders."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

from processes import Failure, Programs, end

HERE = Path(__file__).resolve().parent
PEERS = str(HERE / "peers.py")

# The time in which a bus or a recorder must be ready, in seconds.
START_SECONDS = 20

# Services that the session bus starts: name and command.
SERVICES = {
    "ca.desrt.dconf": "/usr/libexec/dconf-service",
    "org.a11y.Bus": "/usr/libexec/at-spi-bus-launcher",
    "org.freedesktop.impl.portal.PermissionStore": "/usr/libexec/xdg-permission-store",
    "org.freedesktop.portal.Desktop": "/usr/libexec/xdg-desktop-portal",
    "org.gtk.vfs.Daemon": "/usr/libexec/gvfsd --no-fuse",
    "org.gtk.vfs.Metadata": "/usr/libexec/gvfsd-metadata",
    "org.example.Backup": f"{sys.executable} {PEERS} backup",
    "org.example.Indexer": f"{sys.executable} {PEERS} indexer",
    "org.example.Sensors": f"{sys.executable} {PEERS} sensors",
    "org.freedesktop.impl.portal.desktop.diligence": f"{sys.executable} {PEERS} portal",
    "org.example.Broken": "/bin/false",
}

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>{kind}</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  {services}
  <!-- As a session has it: the clients of the scenario wait for many replies at once. -->
  <limit name="max_replies_per_connection">50000</limit>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
"""


# Variables of this script that its programs inherit. The last one changes what the peers do.
KEPT = ["PATH", "LD_LIBRARY_PATH", "DESKTOP_UPDATED"]


class Desk:
    """A folder with everything that the programs of one bus, or of two, read and write."""

    def __init__(self, folder):
        self.folder = folder
        for name in ["home", "run", "portals", "services"]:
            (folder / name).mkdir(parents=True)
        # Programs of other users connect too, such as polkitd, which has its own user.
        folder.chmod(0o755)
        (folder / "run").chmod(0o700)
        self.write_services()
        self.write_portal()

    def write_services(self):
        for name, command in SERVICES.items():
            text = f"[D-BUS Service]\nName={name}\nExec={command}\n"
            (self.folder / "services" / f"{name}.service").write_text(text)

    def write_portal(self):
        name = "org.freedesktop.impl.portal.desktop.diligence"
        interfaces = "Settings;org.freedesktop.impl.portal.FileChooser"
        text = f"[portal]\nDBusName={name}\nInterfaces=org.freedesktop.impl.portal.{interfaces}\n"
        (self.folder / "portals" / "diligence.portal").write_text(text + "UseIn=diligence\n")

    def address(self, name):
        return f"unix:path={self.folder / name}"

    def configuration(self, name, kind):
        path = self.folder / f"{name}.conf"
        services = f"<servicedir>{self.folder / 'services'}</servicedir>"
        text = CONFIGURATION.format(
            kind=kind,
            socket=self.folder / name,
            services=services if kind == "session" else "",
        )
        path.write_text(text)
        return path

    def environment(self, session, system):
        """Variables of programs: these buses, and nothing of the user or of the machine."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {
            "DBUS_SESSION_BUS_ADDRESS": session,
            "DBUS_SYSTEM_BUS_ADDRESS": system,
            "GSETTINGS_BACKEND": "dconf",
            "HOME": str(self.folder / "home"),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CURRENT_DESKTOP": "diligence",
            "XDG_DESKTOP_PORTAL_DIR": str(self.folder / "portals"),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
        }


class Stage:
    """Two buses, or one that serves as both, with their recorders and programs."""

    def __init__(self, desk, names):
        self.desk = desk
        session, system = (desk.address(name) for name in names)
        self.session, self.system = session, system
        self.programs = Programs(desk.environment(session, system), desk.folder)
        # Programs of the scenario end before the recorders, and the recorders before the buses.
        self.buses = Programs(desk.environment(session, system), desk.folder)
        self.recorders = []
        self.activates = True
        self.other_users = True

    def start_bus(self, name, *words):
        process = self.buses.start(*words)
        wait(f"the socket of {words[0]}", process, (self.desk.folder / name).exists)

    def record(self, file, *words, output=False):
        """Starts a recorder, and waits until the file is not empty."""
        out = open(file, "wb") if output else None
        process = self.buses.start(*words, output=out)
        self.recorders.append((process, file))
        wait(f"a recording by {' '.join(words)}", process, lambda: self.is_recording(file))

    def is_recording(self, file):
        # A monitor writes its file when there is a message, so this sends one.
        for address in {self.session, self.system}:
            self.call_bus(address)
        written = [file, *file.parent.glob(f"{file.name}.*.unfinished")]
        return any(path.exists() and path.stat().st_size > 100 for path in written)

    def call_bus(self, address):
        bus = "org.freedesktop.DBus"
        words = ["dbus-send", f"--bus={address}", "--print-reply", f"--dest={bus}", "/"]
        self.buses.run(*words, f"{bus}.GetId")

    def end(self):
        self.programs.end_all()
        for process, _ in self.recorders:
            end(process, signal.SIGINT)
        self.buses.end_all()


def wait(what, process, done):
    deadline = time.monotonic() + START_SECONDS
    while not done():
        if process.poll() is not None:
            raise Failure(f"ended before there was {what}: status {process.returncode}")
        if time.monotonic() > deadline:
            raise Failure(f"waited in vain for {what}")
        time.sleep(0.05)


def of_ours(program, desk, out):
    """Two buses of the program under test, each recorded by it."""
    stage = Stage(desk, ["session", "system"])
    for name in ["session", "system"]:
        configuration = desk.configuration(name, name)
        stage.start_bus(name, program, "bus", "--nofork", f"--config-file={configuration}")
    for name in ["session", "system"]:
        file = out / f"{name}.pcapng"
        stage.record(file, program, "record", f"--{name}", "-o", str(file))
    return stage


def of_dbus_daemon(program, desk, out):
    """dbus-daemon, recorded by its own monitor and by the program under test."""
    stage = Stage(desk, ["bus", "bus"])
    configuration = desk.configuration("bus", "session")
    daemon = shutil.which("dbus-daemon")
    stage.start_bus("bus", daemon, "--nofork", "--nopidfile", f"--config-file={configuration}")
    words = ["dbus-monitor", "--address", stage.session, "--pcap"]
    stage.record(out / "dbus-daemon.pcap", *words, output=True)
    file = out / "dbus-daemon.pcapng"
    stage.record(file, program, "record", "--address", stage.session, "-o", str(file))
    return stage


def of_dbus_broker(_program, desk, out):
    """dbus-broker, recorded by busctl. It starts services by systemd only, so it starts none here."""
    stage = Stage(desk, ["bus", "bus"])
    # Without systemd, which looks up users for it, dbus-broker does not admit other users either.
    stage.activates = stage.other_users = False
    configuration = desk.configuration("bus", "session")
    words = [
        "systemd-socket-activate",
        f"--listen={desk.folder / 'bus'}",
        "--fdname=dbus.socket",
        f"--setenv=DBUS_SESSION_BUS_ADDRESS={stage.session}",
        shutil.which("dbus-broker-launch"),
        "--scope=user",
        f"--config-file={configuration}",
    ]
    if not Path("/run/systemd/system").exists():
        words = [*own_mounts(), sys.executable, str(HERE / "journal.py"), *words]
    stage.start_bus("bus", *words)
    # On most buses, some peers are connected before the recorder.
    stage.call_bus(stage.session)
    words = ["busctl", f"--address={stage.session}", "capture"]
    stage.record(out / "dbus-broker.pcapng", *words, output=True)
    return stage


def own_mounts():
    """The command that gives a program mounts that no other process sees."""
    if os.geteuid() == 0:
        return ["unshare", "--mount"]
    return ["unshare", "--map-current-user", "--keep-caps", "--mount"]
