// Where the time of a call went.

import type { JSX } from "preact";
import type { Bus, InBus, MessageDetails } from "../generated/protocol";
import { duration, share } from "../parts/format";
import { busPartsOf, type PhasePart, partsOf, total } from "./phases";

interface CallTimesProps {
  readonly details: MessageDetails;
  readonly method: Bus["method"];
}

/** The time of a call and its reply: the way as the bus has noted it, or what a monitor saw. */
export function CallTimes({ details, method }: CallTimesProps): JSX.Element | null {
  const { phases, duration_ns } = details;
  if (phases !== null) {
    const about = "From when the bus received the call until the reply had left it";
    return <Phases parts={partsOf(phases)} whole={total(phases)} about={about} />;
  }
  if (duration_ns === null) return null;
  return (
    <p class="way-duration">
      <strong>{duration(duration_ns)}</strong>
      <span class="note">
        {method === "trace"
          ? "from call to reply; not all of its way was recorded"
          : "from call to reply as a monitor saw it: an estimate"}
      </span>
    </p>
  );
}

/** For how long the bus had a message, by phases. */
export function InBusTime({ inBus }: { readonly inBus: InBus }): JSX.Element {
  const { phases, total_ns } = inBus;
  const about =
    total_ns === null
      ? "From when the bus received the message; not all copies were written"
      : "From when the bus received the message until the last copy had left it";
  return <Phases parts={busPartsOf(phases)} whole={total(phases)} about={about} />;
}

function Phases({
  parts,
  whole,
  about,
}: {
  readonly parts: readonly PhasePart[];
  readonly whole: number;
  readonly about: string;
}): JSX.Element {
  const seen = parts.filter(({ ns }) => ns > 0);
  return (
    <div class="way">
      <div class="way-bar" aria-hidden="true">
        {seen.map((part) => (
          <span
            key={part.name}
            class={part.look}
            style={{ flexGrow: part.share }}
            title={`${part.name}: ${duration(part.ns)}, ${share(part.share)}`}
          />
        ))}
      </div>
      <table class="way-legend">
        <tbody>
          {parts.map((part) => (
            <tr key={part.name} title={part.about} class={part.ns === 0 ? "none" : ""}>
              <th scope="row">
                <span class={`swatch ${part.look}`} aria-hidden="true" />
                {part.name}
              </th>
              <td>{duration(part.ns)}</td>
              <td>{share(part.share)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr title={about}>
            <th scope="row">in all</th>
            <td>{duration(whole)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
