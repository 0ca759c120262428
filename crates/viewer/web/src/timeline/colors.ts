// The colors of spans.

import type { Colors } from "../parts/colors";
import type { Role } from "./tracks";

/** The color of spans of a role. */
export function colorOf(colors: Colors, role: Role): string {
  const names = { bus: "bus", serves: "call", waits: "waiting", sends: "signal" } as const;
  return colors[names[role]];
}
