"""Processes that the script starts, their descendants, and how they end."""

import ctypes
import os
import signal
import subprocess
import threading
import time

PR_SET_CHILD_SUBREAPER = 36

# The time in which a program must end after SIGTERM, in seconds.
END_SECONDS = 3
# The time in which a client must end, in seconds.
CLIENT_SECONDS = 60


class Failure(Exception):
    """A program did not do what the recording needs."""


def adopt_orphans():
    """Makes this process the parent of all descendants whose own parent ends."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def descendants():
    """The processes that come from this one, by number."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            parent = parent_of(entry)
            children.setdefault(parent, []).append(int(entry))
    found, open_ends = [], [os.getpid()]
    while open_ends:
        for child in children.get(open_ends.pop(), []):
            found.append(child)
            open_ends.append(child)
    return found


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The name in parentheses can contain spaces and parentheses.
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def end_descendants():
    """Ends everything that this process started, directly or not."""
    deadline = time.monotonic() + END_SECONDS
    number = signal.SIGTERM
    while pids := descendants():
        if time.monotonic() > deadline:
            number = signal.SIGKILL
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        reap()
        time.sleep(0.05)


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


class Programs:
    """The programs of one bus or of two, with their environment."""

    def __init__(self, environment, folder):
        self.environment = environment
        self.folder = folder
        self.running = []
        self.clients = 0
        self.failures = []
        self.lock = threading.Lock()

    def start(self, *words, output=None, **environment):
        """Starts a program that runs until it is ended."""
        log = output or open(self.folder / "log", "ab")
        process = subprocess.Popen(
            words,
            env=self.environment | environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.DEVNULL if output else log,
            start_new_session=True,
        )
        log.close()
        with self.lock:
            self.running.append(process)
        return process

    def run(self, *words, expect="", status=0, lines=None):
        """Runs a client to its end, and checks what it says; returns its output."""
        with self.lock:
            self.clients += 1
        done = subprocess.run(
            words,
            env=self.environment,
            cwd=self.folder,
            input=lines or "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=CLIENT_SECONDS,
            check=False,
        )
        if done.returncode != status or expect not in done.stdout:
            wanted = f"status {status} and {expect!r}" if expect else f"status {status}"
            said = done.stdout.strip()[-400:]
            line = f"{' '.join(words)}: expected {wanted}, got status {done.returncode}: {said}"
            self.fail(line)
        return done.stdout

    def fail(self, line):
        with self.lock:
            self.failures.append(line)

    def end_all(self):
        """Ends the programs, the youngest first."""
        for process in reversed(self.running):
            end(process)


def end(process, number=signal.SIGTERM):
    """Ends a process, and waits until it is gone."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def at_once(*actions):
    """Runs functions in threads, and waits for all; the first failure is raised."""
    errors = []

    def guarded(action):
        try:
            action()
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(action,), daemon=True) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
