"""Reads messages from pcap and pcapng files, without any code of the program under test.

It is the independent count that tests compare the program with: `packets.py FILE...` prints a line of
JSON for each file.
"""

import json
import struct
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

LINK_TYPE_DBUS = 231

# Little-endian and big-endian files, with times in microseconds and in nanoseconds.
PCAP_MAGICS = {
    b"\xd4\xc3\xb2\xa1": "<",
    b"\xa1\xb2\xc3\xd4": ">",
    b"\x4d\x3c\xb2\xa1": "<",
    b"\xa1\xb2\x3c\x4d": ">",
}
PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
PCAPNG_SECTION = 0x0A0D0D0A
PCAPNG_BYTE_ORDER = 0x1A2B3C4D
PCAPNG_INTERFACE = 1
PCAPNG_SIMPLE_PACKET = 3
PCAPNG_ENHANCED_PACKET = 6

TYPES = {1: "call", 2: "return", 3: "error", 4: "signal"}
# Header fields whose values are strings, by code.
TEXT_FIELDS = {1: "path", 2: "interface", 3: "member", 4: "error", 6: "destination", 7: "sender"}
REPLY_SERIAL, SIGNATURE, DESCRIPTORS = 5, 8, 9


@dataclass
class Summary:
    """Counts of the contents of a recording."""

    messages: int = 0
    types: Counter = field(default_factory=Counter)
    members: Counter = field(default_factory=Counter)
    errors: Counter = field(default_factory=Counter)
    connections: set = field(default_factory=set)

    def add(self, header):
        self.messages += 1
        self.types[header["type"]] += 1
        if "member" in header:
            self.members[f"{header.get('interface', '')}.{header['member']}"] += 1
        if "error" in header:
            self.errors[header["error"]] += 1
        for end in ("sender", "destination"):
            if header.get(end, "").startswith(":"):
                self.connections.add(header[end])

    def as_json(self, file):
        return {
            "file": str(file),
            "messages": self.messages,
            "connections": len(self.connections),
            "types": dict(self.types),
            "members": dict(self.members),
            "errors": dict(self.errors),
        }


def summary(file):
    """Counts the messages of a file."""
    result = Summary()
    for packet in packets(Path(file).read_bytes()):
        result.add(parse_header(packet))
    return result


def packets(data):
    """The bytes of each packet that holds a D-Bus message."""
    if data[:4] in PCAP_MAGICS:
        return pcap_packets(data, PCAP_MAGICS[data[:4]])
    if data[:4] != PCAPNG_MAGIC:
        raise ValueError(f"neither pcap nor pcapng: {data[:4].hex()}")
    return pcapng_packets(data)


def pcap_packets(data, order):
    (link_type,) = struct.unpack_from(order + "I", data, 20)
    if link_type != LINK_TYPE_DBUS:
        raise ValueError(f"link type {link_type} is not D-Bus")
    at = 24
    # The last record may be incomplete if the recorder was interrupted.
    while at + 16 <= len(data):
        (length,) = struct.unpack_from(order + "I", data, at + 8)
        if at + 16 + length > len(data):
            return
        yield data[at + 16 : at + 16 + length]
        at += 16 + length


def pcapng_packets(data):
    order, links, at = "<", [], 0
    while at + 12 <= len(data):
        (kind,) = struct.unpack_from(order + "I", data, at)
        if kind == PCAPNG_SECTION:
            little = struct.unpack_from("<I", data, at + 8)[0] == PCAPNG_BYTE_ORDER
            order, links = "<" if little else ">", []
        (length,) = struct.unpack_from(order + "I", data, at + 4)
        if length < 12 or at + length > len(data):
            return
        if kind == PCAPNG_INTERFACE:
            links.append(struct.unpack_from(order + "H", data, at + 8)[0])
        elif kind == PCAPNG_ENHANCED_PACKET:
            (interface,) = struct.unpack_from(order + "I", data, at + 8)
            (captured,) = struct.unpack_from(order + "I", data, at + 20)
            if links[interface] == LINK_TYPE_DBUS:
                yield data[at + 28 : at + 28 + captured]
        elif kind == PCAPNG_SIMPLE_PACKET:
            raise ValueError("simple packets are not expected")
        at += length


def parse_header(packet):
    """The type and the header fields of a message."""
    order = "<" if packet[:1] == b"l" else ">"
    (fields_length,) = struct.unpack_from(order + "I", packet, 12)
    header = {"type": TYPES.get(packet[1], "unknown")}
    at, end = 16, 16 + fields_length
    while at < end:
        at = (at + 7) & ~7
        code = packet[at]
        signature_length = packet[at + 1]
        kind = packet[at + 2 : at + 2 + signature_length]
        at += 3 + signature_length
        value, at = read_value(packet, at, kind, order)
        if code in TEXT_FIELDS:
            header[TEXT_FIELDS[code]] = value
    return header


def read_value(packet, at, kind, order):
    """The value of a header field, and where it ends."""
    if kind == b"g":
        length = packet[at]
        return packet[at + 1 : at + 1 + length].decode(), at + 2 + length
    at = (at + 3) & ~3
    (number,) = struct.unpack_from(order + "I", packet, at)
    if kind in (b"s", b"o"):
        return packet[at + 4 : at + 4 + number].decode(), at + 5 + number
    if kind == b"u":
        return number, at + 4
    raise ValueError(f"a header field of type {kind}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(summary(name).as_json(name)))
