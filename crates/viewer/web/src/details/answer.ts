// What is told of a message: crates/analyst/src/answers/details.rs and value.rs.

/** All there is to know of a message. Times are nanoseconds. */
export interface Details {
  readonly id: number;
  readonly kind: string;
  readonly serial: number;
  readonly reply_serial: number;
  readonly flags: readonly string[];
  readonly at: { readonly wall_ns: string; readonly since_start_ns: number };
  readonly bus: string;
  readonly sender: Party;
  readonly destination: Party;
  readonly path: string;
  readonly interface: string;
  /** Of an error its name. */
  readonly member: string;
  readonly signature: string;
  /** Bytes on the wire, and those of them that were kept. */
  readonly size: number;
  readonly kept: number;
  readonly unix_fds: number;
  readonly problem: string | null;
  readonly arguments: readonly Value[];
  /** The call or its reply, by its place. */
  readonly partner: number | null;
  readonly duration_ns: number | null;
  readonly phases: readonly Phase[] | null;
  readonly in_bus: InBus | null;
  readonly deliveries: readonly Delivery[] | null;
  readonly commands: readonly Command[];
}

/** A name as it stands in the message, and the connection that it stood for. */
export interface Party {
  readonly name: string;
  readonly peer: number | null;
  readonly label: string | null;
}

/** For how long the bus had a message. */
export interface InBus {
  /** They add up to the total. */
  readonly phases: readonly Phase[];
  /** When the bus had decided who gets it, and queued the copies. */
  readonly routed_after_ns: number;
  /** Until the last copy was written; null if not all of them were. */
  readonly total_ns: number | null;
}

/** A part of the way of a call and its reply, or of the time of a message in the bus. */
export interface Phase {
  readonly phase: string;
  readonly ns: number;
}

/**
 * A copy: who got it, when its first bytes and when all of them had left the bus, and how many match
 * rules had asked for it.
 */
export interface Delivery {
  readonly recipient: string;
  readonly begun_after_ns: number | null;
  readonly written_after_ns: number | null;
  readonly rules: number;
}

/** What sends the like of it, or why there is no such thing. */
export type Command =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly why: string };

/** A value, with its type as signatures have it; an argument has a name if it is known. */
export type Value = Typed &
  (
    | { readonly text: string }
    /** In hexadecimal. */
    | { readonly bytes: string }
    | { readonly inside: Value }
    /** Of arrays and structures; `more` is how many of them are left out. */
    | { readonly items: readonly Value[]; readonly more?: number }
    | { readonly entries: readonly Entry[]; readonly more?: number }
  );

/** A key and its value. */
export type Entry = readonly [Value, Value];

interface Typed {
  readonly type: string;
  readonly name?: string;
}
