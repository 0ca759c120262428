// What a bus is asked for the page, and what is told of it: crates/viewer/src/bus.rs and crates/inspector.

/** JSON, as a value of D-Bus becomes it: the table is in crates/inspector/src/json/mod.rs. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A value with its type. */
export interface TypedJson {
  readonly type: string;
  readonly data: Json;
}

/** Why something was not learnt or not done. */
export interface Failure {
  readonly kind: string;
  readonly sentence: string;
  /** Of an error that came as the answer. */
  readonly name?: string;
  readonly message?: string;
  /** The argument that is wrong, from 1. */
  readonly argument?: number;
}

/** A name on the bus: of a connection, of a service, or of one that can be started. */
export interface Name {
  readonly name: string;
  readonly owner?: string;
  readonly is_activatable: boolean;
  readonly who?: Who;
  readonly failure?: Failure;
}

/** The program behind a connection. */
export interface Who {
  readonly pid?: number;
  readonly uid?: number;
  readonly user?: string;
  readonly comm?: string;
  readonly exe?: string;
  readonly command?: readonly string[];
  readonly unit?: string;
  readonly cgroup?: string;
  readonly label?: string;
  readonly groups?: readonly number[];
}

/** The objects of a service, each before those below it. */
export interface Tree {
  readonly service: string;
  readonly nodes: readonly TreeNode[];
  readonly left_out: number;
  readonly took_ns: number;
}

/** An object, with the names of its interfaces or why they are not known. */
export interface TreeNode {
  readonly path: string;
  readonly interfaces?: readonly string[];
  readonly failure?: Failure;
}

/** What an object has. */
export interface ObjectFound {
  readonly service: string;
  readonly path: string;
  readonly interfaces: readonly Interface[];
  readonly took_ns: number;
}

export interface Interface {
  readonly name: string;
  readonly methods: readonly Method[];
  readonly signals: readonly Signal[];
  readonly properties: readonly Property[];
  /** Values that the object does not describe. */
  readonly undescribed?: Readonly<Record<string, TypedJson>>;
  readonly annotations: readonly Annotation[];
  readonly failure?: Failure;
}

export interface Method {
  readonly name: string;
  readonly arguments: readonly Argument[];
  readonly results: readonly Argument[];
  readonly annotations: readonly Annotation[];
}

export interface Signal {
  readonly name: string;
  readonly arguments: readonly Argument[];
  readonly annotations: readonly Annotation[];
}

export interface Argument {
  readonly name?: string | null;
  readonly type: string;
}

export interface Property {
  readonly name: string;
  readonly type: string;
  readonly access: "read" | "write" | "read-write";
  readonly emits_change: "value" | "invalidates" | "const" | "no";
  readonly annotations: readonly Annotation[];
  readonly value?: TypedJson;
  readonly failure?: Failure;
}

export interface Annotation {
  readonly name: string;
  readonly value: string;
}

/** Which property of whom. */
export interface PropertyName {
  readonly service: string;
  readonly path: string;
  readonly interface: string;
  readonly property: string;
}

/** A method to be called. */
export interface Call {
  readonly service: string;
  readonly path: string;
  readonly interface: string;
  readonly method: string;
  readonly signature: string;
  readonly arguments: readonly Json[];
}

/** What came of a call that was sent, and after what time. */
export type Answer = { readonly took_ns: number } & (
  | { readonly returned: Returned }
  | { readonly failed: Failure }
);

export interface Returned {
  readonly sender: string;
  readonly results: readonly TypedJson[];
  readonly descriptors: readonly { readonly what: string }[];
}

/** What can be asked and done. */
export type Wish =
  | { readonly do: "names" }
  | { readonly do: "name"; readonly name: string }
  | { readonly do: "tree"; readonly service: string }
  | { readonly do: "object"; readonly service: string; readonly path: string }
  | {
      readonly do: "set";
      readonly property: PropertyName;
      readonly signature: string;
      readonly value: Json;
    }
  | { readonly do: "call"; readonly call: Call; readonly manner?: Manner }
  | { readonly do: "read"; readonly signature: string; readonly text: string };

/** What a text of GVariant says: arguments, or what is wrong at which character, from 1. */
export type Typed =
  | { readonly arguments: readonly Json[] }
  | { readonly problem: { readonly sentence: string; readonly column: number | null } };

/** How something is called. */
export interface Manner {
  readonly starting?: "never" | "allowed";
  readonly authorization?: "silent" | "interactive";
}

/** What of a bus is watched: its names always, and the objects of a service, and one of these. */
export interface Watched {
  readonly service: string | undefined;
  readonly path: string | undefined;
}

/** Who comes and goes; which objects the service adds and removes; the signals of the object. */
export type WatchKind = "names" | "objects" | "object";

/** What is told of a bus that is watched. */
export type WatchLine =
  /** From here on this is heard. */
  | { readonly begun: { readonly service?: string | null; readonly path?: string | null } }
  | { readonly unwatched: { readonly what: WatchKind; readonly failure: Failure } }
  | { readonly heard: { readonly of: WatchKind; readonly what: Heard } };

/** What is heard. */
export type Heard =
  | { readonly signal: HeardSignal }
  | { readonly lost: { readonly count: number } };

export interface HeardSignal {
  /** Microseconds since 1970. */
  readonly at_us: number;
  readonly sender: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly arguments?: readonly TypedJson[];
  readonly failure?: Failure;
}
