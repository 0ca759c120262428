// The colors of spans.

import type { Colours } from "../parts/colours";
import type { Role } from "./tracks";

/** The color of spans of a role. */
export function colourOf(colours: Colours, role: Role): string {
  const names = { bus: "bus", serves: "call", waits: "waiting", sends: "signal" } as const;
  return colours[names[role]];
}
