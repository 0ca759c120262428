// The outcome of a call.

import type { JSX } from "preact";
import { Arguments } from "../details/ValueTree";
import type { Argument, CallAnswer, Failure } from "../generated/protocol";
import { count, duration } from "../parts/format";
import { SeenText } from "../parts/SeenText";
import { useStore } from "../state/context";
import { timingOf } from "./timing";
import { displayValue } from "./values";

interface OutcomeProps {
  readonly answer: CallAnswer;
  /** The duration of each repetition in nanoseconds. */
  readonly durations: readonly number[];
  /** The declared results of the method. */
  readonly results: readonly Argument[];
}

export function Outcome({ answer, durations, results }: OutcomeProps): JSX.Element {
  return (
    <div class="objects-outcome" role="status">
      <p class="note">
        {answer.returned === undefined ? "failed" : `returned by ${answer.returned.sender}`}
        {" · "}
        {timingText(durations)}
      </p>
      {answer.failed === undefined ? null : <Failed failure={answer.failed} />}
      {answer.returned === undefined ? null : (
        <Results returned={answer.returned} results={results} />
      )}
    </div>
  );
}

interface ResultsProps {
  readonly returned: NonNullable<CallAnswer["returned"]>;
  readonly results: readonly Argument[];
}

function Results({ returned, results }: ResultsProps): JSX.Element {
  const { types } = useStore();
  const { results: values, descriptors } = returned;
  if (values.length === 0) return <p class="note">No return value.</p>;
  const named = values.map((value, place) => displayValue(value, types, results[place]?.name));
  return (
    <>
      <Arguments values={named} />
      {descriptors.map(({ what }, place) => (
        <p key={place} class="note">
          descriptor {place}: <SeenText text={what} />
        </p>
      ))}
    </>
  );
}

/** An error with its name and message. */
export function Failed({ failure }: { readonly failure: Failure }): JSX.Element {
  const { name = "", message = "", sentence } = failure;
  return (
    <p class="objects-failed">
      {name === "" ? null : (
        <>
          <code>{name}</code>{" "}
        </>
      )}
      <SeenText text={name === "" ? sentence : message} />
    </p>
  );
}

/** The durations of the calls in words. */
export function timingText(durations: readonly number[]): string {
  const timing = timingOf(durations);
  if (timing === undefined) return "";
  if (timing.count === 1) return duration(timing.min);
  const { min, median, max } = timing;
  const times = `min ${duration(min)}, median ${duration(median)}, max ${duration(max)}`;
  return `${count(timing.count)} calls: ${times}`;
}
