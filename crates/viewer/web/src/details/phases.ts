// The way of a call and its reply, in parts of a bar. No DOM.

import type { Phase } from "./answer";

/** A part of the bar. */
export interface Part {
  readonly name: string;
  /** What it is the time of. */
  readonly about: string;
  readonly ns: number;
  /** Of the whole, from 0 to 1. */
  readonly share: number;
  /** A class that has its colour. */
  readonly look: string;
}

/** The parts of the bar, in their order. */
export function partsOf(phases: readonly Phase[]): readonly Part[] {
  const whole = total(phases);
  return phases.map(({ phase, ns }) => ({
    name: phase,
    about: ABOUT[phase] ?? "",
    ns,
    share: whole === 0 ? 0 : ns / whole,
    look: `phase-${phase.replace(/\W+/g, "-")}`,
  }));
}

/** The time of all of them. */
export function total(phases: readonly Phase[]): number {
  return phases.reduce((sum, { ns }) => sum + ns, 0);
}

const ABOUT: Readonly<Record<string, string>> = {
  start: "the bus holds the call until the service that it starts owns the name",
  "route call": "the bus has the call, and finds out who gets it",
  "send call": "the call waits for the service to take it, and is copied",
  service: "the service has the call, until its reply is at the bus",
  "bus wait": "the reply waits for the bus, which is busy or has no processor",
  "route reply": "the bus finds out who gets the reply",
  "send reply": "the reply waits for the caller to take it, and is copied",
};
