// Artificial recordings, for example with hostile texts or a million messages. Written as classic
// pcap, like the output of dbus-monitor, with little-endian messages.

import { closeSync, openSync, writeSync } from "node:fs";

/** A message. Absent values are left out of the header. */
export interface Message {
  readonly type: 1 | 2 | 3 | 4;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly error?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly sender?: string;
  /** The arguments, which are strings. */
  readonly body?: readonly string[];
}

/** Writes a recording. Times are in microseconds since its start. */
export function writeCapture(file: string, messages: Iterable<readonly [number, Message]>): void {
  const out = openSync(file, "w");
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(1 << 27, 16);
  head.writeUInt32LE(LINKTYPE_DBUS, 20);
  let parts: Buffer[] = [head];
  let length = 0;
  for (const [micros, message] of messages) {
    const bytes = marshal(message);
    const packet = Buffer.alloc(16);
    packet.writeUInt32LE(START + Math.floor(micros / 1e6), 0);
    packet.writeUInt32LE(Math.floor(micros % 1e6), 4);
    packet.writeUInt32LE(bytes.length, 8);
    packet.writeUInt32LE(bytes.length, 12);
    parts.push(packet, bytes);
    length += bytes.length;
    if (length > 1 << 20) {
      writeSync(out, Buffer.concat(parts));
      [parts, length] = [[], 0];
    }
  }
  writeSync(out, Buffer.concat(parts));
  closeSync(out);
}

/**
 * Calls with returns, some of them slow, and signals between them: `count` messages of `clients`
 * clients. Each client is connected for a part of the time.
 */
export function* traffic(count: number, clients = 7): Generator<[number, Message]> {
  for (let serial = 1; serial <= count; serial += 4) {
    // Only a few clients exist at a time; later ones replace them.
    const gone = clients <= TOGETHER ? 0 : Math.floor((serial / count) * (clients - TOGETHER));
    const client = `:1.${10 + gone + (serial % Math.min(clients, TOGETHER))}`;
    const service = `:1.${(serial >> 2) % 5}`;
    const member = `Get${(serial >> 2) % 40}`;
    const at = serial * 25;
    const call = { sender: client, destination: service, path: "/org/example/Load", member };
    yield [at, { type: 1, serial, ...call, interface: "org.example.Load", body: ["x".repeat(40)] }];
    const took = serial % 997 === 0 ? 80 : 10 + (serial % 13);
    const reply = { sender: service, destination: client, replySerial: serial };
    yield [at + took, { type: 2, serial: serial + 1, ...reply, body: ["y".repeat(20)] }];
    const signal = { sender: service, path: `/org/example/Load/${serial % 50}`, member: "Changed" };
    yield [at + 85, { type: 4, serial: serial + 2, ...signal, interface: "org.example.Load" }];
    yield [at + 90, { type: 4, serial: serial + 3, ...signal, interface: "org.example.Other" }];
  }
}

/** The number of clients that exist at the same time. */
const TOGETHER = 7;

function marshal(message: Message): Buffer {
  const fields = new Writer();
  const text = (code: number, type: string, value: string | undefined): void => {
    if (value !== undefined) fields.align(8).byte(code).signature(type).string(value);
  };
  text(1, "o", message.path);
  text(2, "s", message.interface);
  text(3, "s", message.member);
  text(4, "s", message.error);
  if (message.replySerial !== undefined) {
    fields.align(8).byte(5).signature("u").uint32(message.replySerial);
  }
  text(6, "s", message.destination);
  text(7, "s", message.sender);
  if (message.body)
    fields.align(8).byte(8).signature("g").signature("s".repeat(message.body.length));
  const body = new Writer();
  for (const argument of message.body ?? []) body.string(argument);
  const whole = new Writer().byte(0x6c).byte(message.type).byte(0).byte(1);
  whole.uint32(body.length).uint32(message.serial).uint32(fields.length).bytes(fields.take());
  return whole.align(8).bytes(body.take()).take();
}

/**
 * Marshals basic values. Header fields are aligned to 8 bytes, so they can be marshaled separately.
 */
class Writer {
  private parts: Buffer[] = [];
  length = 0;

  bytes(bytes: Buffer): this {
    this.parts.push(bytes);
    this.length += bytes.length;
    return this;
  }

  align(to: number): this {
    return this.bytes(Buffer.alloc((to - (this.length % to)) % to));
  }

  byte(value: number): this {
    return this.bytes(Buffer.from([value]));
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return this.align(4).bytes(bytes);
  }

  string(value: string): this {
    const text = Buffer.from(value);
    return this.uint32(text.length).bytes(text).byte(0);
  }

  signature(value: string): this {
    return this.byte(value.length).bytes(Buffer.from(value)).byte(0);
  }

  take(): Buffer {
    return Buffer.concat(this.parts);
  }
}

const LINKTYPE_DBUS = 231;

/** The time at which recordings begin, in seconds since 1970. */
const START = 1_600_000_000;
