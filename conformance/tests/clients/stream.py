"""The part of the programs that does not depend on a library: numbers, checks and arguments.

`serve ADDRESS` owns a name and serves the calls of the other program. It checks that every signal
and every call arrives exactly once and in order, and prints "ok COUNT" after the last signal.

`stream ADDRESS` sends signals and calls until its standard input ends.

The exit status is 0 on success. Otherwise it is 1, and standard error has the reason.
"""

import os
import select
import sys

NAME = "com.example.Stream"
PATH = "/com/example/Stream"
INTERFACE = "com.example.Stream1"

SMALL_BODY = 100
LARGE_BODY = 300_000
LARGE_EACH = 20
DESCRIPTOR_EACH = 10


def fail(text):
    # Libraries catch exceptions of handlers, but not the end of the process.
    print(text, file=sys.stderr, flush=True)
    os._exit(1)


def body_of(number):
    size = LARGE_BODY if number % LARGE_EACH == 0 else SMALL_BODY
    return bytes([number % 251]) * size


class Service:
    """Checks the messages of the other program, which sends a signal before each call."""

    signals = 0
    calls = 0

    def take_signal(self, number):
        if number != self.signals:
            fail(f"signal {number} arrived instead of signal {self.signals}")
        self.signals += 1

    def take_call(self, number, body, descriptor=None):
        """Checks a call. The function closes the descriptor."""
        if number != self.calls:
            fail(f"call {number} arrived instead of call {self.calls}")
        self.calls += 1
        if self.signals != self.calls:
            fail(f"call {number} arrived after {self.signals} signals")
        if body != body_of(number):
            fail(f"call {number} has another body of {len(body)} bytes")
        if (descriptor is None) != (number % DESCRIPTOR_EACH != 0):
            fail(f"call {number} has descriptor {descriptor}")
        if descriptor is not None:
            with open(descriptor) as file:
                content = file.read()
            if content != str(number):
                fail(f"call {number} has a descriptor with the content {content!r}")
        return number

    def end(self, count):
        if (count, count) != (self.signals, self.calls):
            fail(f"{self.signals} signals and {self.calls} calls arrived, but {count} were sent")
        print(f"ok {count}", flush=True)
        os._exit(0)


def stream(emit, call):
    """Emits a signal and makes a call for each number until standard input ends."""
    number = 0
    try:
        while not select.select([sys.stdin], [], [], 0)[0]:
            emit("Numbered", number)
            if number % DESCRIPTOR_EACH == 0:
                reader, writer = os.pipe()
                os.write(writer, str(number).encode())
                os.close(writer)
                returned = call("EchoFile", number, body_of(number), reader)
                os.close(reader)
            else:
                returned = call("Echo", number, body_of(number))
            if returned != number:
                fail(f"call {number} returned {returned}")
            number += 1
        emit("Done", number)
    except Exception as error:
        fail(f"number {number}: {error}")


def main(serve, stream):
    """Runs a mode of the program with the address as its argument."""
    {"serve": serve, "stream": stream}[sys.argv[1]](sys.argv[2])
