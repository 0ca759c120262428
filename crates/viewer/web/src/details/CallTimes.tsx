// The phases of a call's duration.

import type { JSX } from "preact";
import type { Bus, InBus, MessageDetails } from "../generated/protocol";
import { duration, share } from "../parts/format";
import { busPartsOf, type PhasePart, partsOf, total } from "./phases";

interface CallTimesProps {
  readonly details: MessageDetails;
  readonly method: Bus["method"];
}

/**
 * The duration of a call and its reply: by phase if the bus recorded them, otherwise as observed.
 */
export function CallTimes({ details, method }: CallTimesProps): JSX.Element | null {
  const { phases, duration_ns } = details;
  if (phases !== null) {
    const about = "From receipt of the call by the bus until the reply was written";
    return <Phases parts={partsOf(phases)} whole={total(phases)} about={about} />;
  }
  if (duration_ns === null) return null;
  return (
    <p class="way-duration">
      <strong>{duration(duration_ns)}</strong>
      <span class="note">
        {method === "trace"
          ? "from call to reply; some phases were not recorded"
          : "from call to reply as seen by a monitor; an estimate"}
      </span>
    </p>
  );
}

/** The time that the bus needed for a message, by phase. */
export function InBusTime({ inBus }: { readonly inBus: InBus }): JSX.Element {
  const { phases, total_ns } = inBus;
  const about =
    total_ns === null
      ? "From receipt of the message by the bus; not all copies were written"
      : "From receipt of the message by the bus until the last copy was written";
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
  const visible = parts.filter(({ ns }) => ns > 0);
  return (
    <div class="way">
      <div class="way-bar" aria-hidden="true">
        {visible.map((part) => (
          <span
            key={part.name}
            class={part.className}
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
                <span class={`swatch ${part.className}`} aria-hidden="true" />
                {part.name}
              </th>
              <td>{duration(part.ns)}</td>
              <td>{share(part.share)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr title={about}>
            <th scope="row">total</th>
            <td>{duration(whole)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
