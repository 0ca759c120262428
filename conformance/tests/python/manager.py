"""Plays the service manager for one service with a listening socket and a file descriptor store.

usage: manager.py FOLDER STORE_LEN PROGRAM [ARGUMENT...]

Commands are lines of standard input:

    restart   end the service, and start it again
    stop      end the service, and empty the store
    damage    cut off the last byte of the memory in the store at the next restart
    reopen    close the listening socket, and open another one at the same path

Events are lines of standard output.
"""

import array
import os
import select
import signal
import socket
import sys

folder, store_len, *command = sys.argv[1:]
store = []
is_damaging = False


def say(*words):
    print(*words, flush=True)


def listen():
    path = os.path.join(folder, "passed")
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(100)
    return listener


def damaged(memory):
    content = os.pread(memory, os.fstat(memory).st_size, 0)
    other = os.memfd_create("damaged")
    os.write(other, content[:-1])
    return other


def start():
    global is_damaging
    if is_damaging:
        store[:] = [(n, damaged(fd) if n == "diligence-state" else fd) for n, fd in store]
        is_damaging = False
    passed = [("dbus.socket", listener.fileno())] + store
    # systemd does the same for sockets without NonBlocking=.
    listener.setblocking(True)
    child = os.fork()
    if child:
        say("started", child, "with", " ".join(name for name, _ in passed))
        return child
    high = [os.dup2(fd, 200 + index, inheritable=False) for index, (_, fd) in enumerate(passed)]
    for index, fd in enumerate(high):
        os.dup2(fd, 3 + index, inheritable=True)
    os.closerange(3 + len(high), 200)
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.environ["LISTEN_FDS"] = str(len(passed))
    os.environ["LISTEN_FDNAMES"] = ":".join(name for name, _ in passed)
    os.environ["NOTIFY_SOCKET"] = os.path.join(folder, "notify")
    os.environ.pop("FDSTORE", None)
    if store_len != "0":
        os.environ["FDSTORE"] = store_len
    os.execv(command[0], command)


def handle_notification():
    text, ancillary, _, _ = notifications.recvmsg(4096, 4096)
    fds = array.array("i")
    for _, _, content in ancillary:
        fds.frombytes(content)
    lines = text.decode().split("\n")
    say("notified", " ".join(lines))
    fields = dict(line.split("=", 1) for line in lines)
    name = fields.get("FDNAME")
    if "FDSTORE" in fields and len(store) + len(fds) <= int(store_len):
        store.extend((name, fd) for fd in fds)
        return
    for fd in fds:
        os.close(fd)
    if "FDSTOREREMOVE" in fields:
        for _, fd in [entry for entry in store if entry[0] == name]:
            os.close(fd)
        store[:] = [entry for entry in store if entry[0] != name]
        say("stored", len(store))


def end():
    os.kill(main, signal.SIGTERM)
    ended = os.pidfd_open(main)
    while True:
        ready, _, _ = select.select([notifications, ended], [], [])
        if notifications in ready:
            handle_notification()
        else:
            say("ended", os.waitstatus_to_exitcode(os.waitpid(main, 0)[1]))
            os.close(ended)
            return


notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notifications.bind(os.path.join(folder, "notify"))
# The service may change its user.
os.chmod(os.path.join(folder, "notify"), 0o777)
listener = listen()
main = start()
pending = b""
while True:
    ready, _, _ = select.select([notifications, 0], [], [])
    if notifications in ready:
        handle_notification()
        continue
    received = os.read(0, 4096)
    if not received:
        os.kill(main, signal.SIGKILL)
        break
    *lines, pending = (pending + received).split(b"\n")
    for line in lines:
        if line == b"damage":
            is_damaging = True
        elif line == b"reopen":
            listener.close()
            listener = listen()
        elif line == b"restart":
            end()
            main = start()
        elif line == b"stop":
            end()
            for _, fd in store:
                os.close(fd)
            say("stopped")
            sys.exit()
