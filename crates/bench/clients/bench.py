"""The code that the Python programs share. README.md describes the programs."""

import json
import os
import sys
import time

PATH = "/org/diligence/Bench"
INTERFACE = "org.diligence.Bench1"
METHOD = "Echo"
SIGNAL = "Sample"

WARM_UP_CALLS_MAX = 100
FLUSH_EACH_BYTES = 8 * 1024 * 1024
SIGNAL_OVERHEAD_BYTES = 128
SILENCE_NS = 2_000_000_000
FIRST_SIGNAL_NS = 25_000_000_000
# Interval of checks for silence.
LOOK_EACH_MS = 100

COUNT_MAX = 100_000_000
# Maximum length of an array: 64 MiB.
BYTES_MAX = 64 * 1024 * 1024

# Nanoseconds of CLOCK_MONOTONIC.
now_ns = time.monotonic_ns


class Failed(Exception):
    """An error, described in one sentence."""


def percentile(ascending, percent):
    """Returns the smallest of the sorted durations that this percentage of them does not exceed."""
    return ascending[(len(ascending) * percent + 99) // 100 - 1] if ascending else 0


def print_line(line):
    print(line, flush=True)


def read_line():
    """Waits for a line. Returns False at the end of the input."""
    return bool(sys.stdin.readline())


def wait_for_line():
    if not read_line():
        raise Failed("standard input ended before the line that starts the measurement")


def wait_for_end():
    while os.read(sys.stdin.fileno(), 256):
        pass


def warm_up_calls(count):
    return max(1, min(count // 10, WARM_UP_CALLS_MAX))


def check(back, text):
    if back != text:
        raise Failed("the reply carries a different text than the call")


def report_calls(begin, ends):
    durations = sorted(end - before for before, end in zip([begin, *ends], ends))
    report = {"calls": len(ends), "elapsed_ns": ends[-1] - begin}
    report |= {"p50_ns": percentile(durations, 50), "p99_ns": percentile(durations, 99)}
    print_line(json.dumps(report))


def report_emission(sent, elapsed_ns):
    print_line(json.dumps({"sent": sent, "timeouts": 0, "elapsed_ns": elapsed_ns}))


class Listening:
    """The signals that a listener received."""

    def __init__(self, expected):
        self.expected = expected
        self.delays = []
        self.first_sent = self.last_received = self.bytes = 0

    def ready(self):
        print_line("ready")
        self.started = now_ns()

    def take(self, sent_ns, payload):
        now = now_ns()
        if len(self.delays) == self.expected:
            return
        if not self.delays:
            self.first_sent = sent_ns
        self.delays.append(now - sent_ns)
        self.last_received = now
        self.bytes += len(payload)

    def over(self):
        if not self.delays:
            return now_ns() - self.started > FIRST_SIGNAL_NS
        complete = len(self.delays) == self.expected
        return complete or now_ns() - self.last_received > SILENCE_NS

    def report(self):
        delays = sorted(self.delays)
        mean = sum(delays) // len(delays) if delays else 0
        report = {"received": len(delays), "elapsed_ns": self.last_received - self.first_sent}
        report |= {"delay_mean_ns": mean, "delay_p99_ns": percentile(delays, 99)}
        print_line(json.dumps(report | {"bytes": self.bytes}))


def main(serve, call, emit, listen):
    """Runs the mode in the arguments."""
    try:
        match sys.argv[1:]:
            case ["serve", address]:
                serve(address)
            case ["call", address, destination, count, length]:
                text = "x" * number(length, 0, BYTES_MAX)
                call(address, destination, number(count, 1, COUNT_MAX), text)
            case ["emit", address, count, size]:
                payload = b"x" * number(size, 0, BYTES_MAX)
                emit(address, number(count, 1, COUNT_MAX), payload)
            case ["listen", address, sender, count]:
                listen(address, sender, Listening(number(count, 1, COUNT_MAX)))
            case _:
                raise Failed(
                    "usage: serve ADDRESS | call ADDRESS DESTINATION COUNT LENGTH"
                    " | emit ADDRESS COUNT SIZE | listen ADDRESS SENDER COUNT"
                )
    except Exception as error:
        print(" ".join(str(error).split()) or repr(error), file=sys.stderr)
        sys.exit(1)


def number(text, least, most):
    if not text.isdecimal() or not least <= int(text) <= most:
        raise Failed(f"{text} is not a number from {least} to {most}")
    return int(text)
