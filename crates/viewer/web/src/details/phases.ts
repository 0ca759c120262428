// The phases of a call and its reply, as parts of a bar. Independent of the DOM.

import type { PhaseTime } from "../generated/protocol";

/** A part of the bar. */
export interface PhasePart {
  readonly name: string;
  /** An explanation of the phase. */
  readonly about: string;
  readonly ns: number;
  /** The fraction of the total duration, from 0 to 1. */
  readonly share: number;
  /** The CSS class that sets the color. */
  readonly className: string;
}

/** The parts of the bar for a call, in order. */
export function partsOf(phases: readonly PhaseTime[]): readonly PhasePart[] {
  return divided(phases, ABOUT);
}

/** The parts of the bar for a message in the bus, in order. */
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
    className: `phase-${phase.replace(/\W+/g, "-")}`,
  }));
}

/** The total duration of the phases in nanoseconds. */
export function total(phases: readonly PhaseTime[]): number {
  return phases.reduce((sum, { ns }) => sum + ns, 0);
}

const ABOUT: Readonly<Record<string, string>> = {
  start: "the bus holds the call until the service that it starts owns the name",
  "route call": "the bus has received the call and determines the recipient",
  "send call": "the call waits until the service reads it, and is copied",
  service: "the service handles the call until its reply reaches the bus",
  "bus wait": "the reply waits for the bus, which is busy or not scheduled",
  "route reply": "the bus determines the recipient of the reply",
  "send reply": "the reply waits until the caller reads it, and is copied",
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
