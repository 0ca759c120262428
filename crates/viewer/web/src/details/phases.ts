// The way of a call and its reply, in parts of a bar. No DOM.

import type { PhaseTime } from "../generated/protocol";

/** A part of the bar. */
export interface PhasePart {
  readonly name: string;
  /** What it is the time of. */
  readonly about: string;
  readonly ns: number;
  /** Of the whole, from 0 to 1. */
  readonly share: number;
  /** A class that has its colour. */
  readonly look: string;
}

/** The parts of the bar of a call, in their order. */
export function partsOf(phases: readonly PhaseTime[]): readonly PhasePart[] {
  return divided(phases, ABOUT);
}

/** The parts of the bar of a message in the bus, in their order. */
export function busPartsOf(phases: readonly PhaseTime[]): readonly PhasePart[] {
  return divided(phases, ABOUT_BUS);
}

function divided(
  phases: readonly PhaseTime[],
  about: Readonly<Record<string, string>>,
): PhasePart[] {
  const whole = total(phases);
  return phases.map(({ phase, ns }) => ({
    name: phase,
    about: about[phase] ?? "",
    ns,
    share: whole === 0 ? 0 : ns / whole,
    look: `phase-${phase.replace(/\W+/g, "-")}`,
  }));
}

/** The time of all of them. */
export function total(phases: readonly PhaseTime[]): number {
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

const ABOUT_BUS: Readonly<Record<string, string>> = {
  start: "the bus holds the message until the service that it starts owns the name",
  receive: "the bus reads the bytes from the socket of the sender",
  wait: "the bus routes other messages that it read together with this one",
  route: "the bus receives the message and finds the recipients; the stages were not measured",
  dispatch: "the bus finds the recipients and checks limits and policy",
  match: "the bus searches its match rules for recipients",
  send: "the bus queues and writes the copies, until the last one is written",
};
