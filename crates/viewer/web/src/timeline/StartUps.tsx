// The startup of services: their milestones, and the replies that they waited for.

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { StartUp, Step } from "../generated/protocol";
import type { Recording } from "../model/recording";
import { duration } from "../parts/format";
import { oneLine } from "../parts/visibleText";
import { useStore } from "../state/context";
import { nameOf, partiesOf } from "./label";
import { around } from "./stretch";

/** Maximum number of drawn steps; the longest ones are drawn. */
const STEPS_MAX = 300;

export function StartUps({ startUps }: { readonly startUps: readonly StartUp[] }): JSX.Element {
  const chosen = useSignal(0);
  const one = startUps[Math.min(chosen.value, startUps.length - 1)];
  if (one === undefined) {
    return <p class="empty">No service started during the recording.</p>;
  }
  return (
    <div class="starts">
      <ul class="starts-list">
        {startUps.map((startUp, place) => (
          <li key={`${startUp.peer} ${startUp.name}`}>
            <button
              type="button"
              class="timeline-plain"
              aria-pressed={startUp === one}
              onClick={() => (chosen.value = place)}
            >
              <span>{oneLine(startUp.name, 200)}</span>
              <span>{duration(lengthOf(startUp))}</span>
            </button>
          </li>
        ))}
      </ul>
      <Path startUp={one} />
    </div>
  );
}

function lengthOf({ milestones }: StartUp): number {
  return (milestones.at(-1)?.at ?? 0) - (milestones[0]?.at ?? 0);
}

function Path({ startUp }: { readonly startUp: StartUp }): JSX.Element {
  const store = useStore();
  const from = startUp.milestones[0]?.at ?? 0;
  const length = Math.max(lengthOf(startUp), 1);
  const part = (time: number): string =>
    `${Math.min(Math.max((time - from) / length, 0), 1) * 100}%`;
  const show = (): void => {
    const span = { from, until: from + length };
    store.span.value = around(span, store.recording.value.end);
  };
  const depth = Math.max(0, ...startUp.path.map((step) => step.depth));
  return (
    <div class="starts-path">
      <div class="starts-title">
        <span>
          From {startUp.milestones[0]?.what} to {startUp.milestones.at(-1)?.what}:{" "}
          {duration(length)}
        </span>
        <button type="button" onClick={show}>
          Show on the tracks
        </button>
      </div>
      <ol
        class="starts-steps"
        style={{ height: `${(depth + 1) * STEP_HEIGHT}px` }}
        aria-label="Critical path"
      >
        <ComesUp until={part(startUp.path[0]?.from ?? from + length)} />
        {drawnSteps(startUp.path).map((step) => (
          <StepBar
            key={`${step.from} ${step.depth}`}
            step={step}
            left={part(step.from)}
            right={part(step.to)}
          />
        ))}
        {startUp.milestones.map((one) => (
          <li key={`${one.what} ${one.at}`} class="starts-line" style={{ left: part(one.at) }} />
        ))}
      </ol>
      <ol class="starts-milestones">
        {startUp.milestones.map((one) => (
          <li key={`${one.what} ${one.at}`}>
            <button
              type="button"
              class="timeline-plain"
              disabled={one.message === null}
              onClick={() => store.selectMessage(one.message ?? undefined)}
            >
              <span class="starts-after">{duration(one.at - from)}</span> {one.what}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The time before the bus can observe the service. */
function ComesUp({ until }: { readonly until: string }): JSX.Element {
  return (
    <li class="starts-step" style={{ left: "0%", width: until, top: 0 }}>
      <div class="starts-bar before-bus" title="Startup work before the process connects">
        starting
      </div>
    </li>
  );
}

const STEP_HEIGHT = 26;

/** The longest steps, in their order. */
function drawnSteps(path: readonly Step[]): readonly Step[] {
  if (path.length <= STEPS_MAX) return path;
  const longest = [...path].sort((one, other) => other.to - other.from - (one.to - one.from));
  const kept = new Set(longest.slice(0, STEPS_MAX));
  return path.filter((step) => kept.has(step));
}

interface StepBarProps {
  readonly step: Step;
  readonly left: string;
  readonly right: string;
}

function StepBar({ step, left, right }: StepBarProps): JSX.Element {
  const store = useStore();
  const words = wordsOf(store.recording.value, step);
  const style = {
    left,
    width: `calc(${right} - ${left})`,
    top: `${step.depth * STEP_HEIGHT}px`,
  };
  const title = `${words}\n${duration(step.to - step.from)}`;
  return (
    <li class="starts-step" style={style}>
      <button
        type="button"
        class={`starts-bar ${step.what}`}
        title={title}
        disabled={step.what === "works"}
        onClick={() => store.selectMessage(step.id)}
      >
        {words}
      </button>
    </li>
  );
}

function wordsOf(recording: Recording, step: Step): string {
  if (step.what === "works")
    return `${oneLine(recording.peers[step.id]?.label ?? "unknown connection", 80)} works`;
  return step.id < recording.length
    ? `waits for ${nameOf(recording, step.id)}: ${partiesOf(recording, step.id)}`
    : "waits for a call";
}
