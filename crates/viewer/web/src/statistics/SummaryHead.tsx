import type { JSX } from "preact";
import type { SummaryAnswer } from "../generated/protocol";
import { useAnswer } from "../state/answer";
import { useStore } from "../state/context";
import { settledSelection } from "./queries";
import { sentence } from "./SubjectTable";
import { tiles } from "./summary";

/** The key figures of the selected messages, and notes about their reliability. */
export function SummaryHead(): JSX.Element {
  const settled = settledSelection(useStore());
  const request = useAnswer(() => {
    const selection = settled.value;
    return selection === undefined ? undefined : { ask: "summary", ...selection };
  });
  const { answer, problem } = request.value;
  if (problem !== undefined) return <p class="empty">{sentence(problem)}</p>;
  if (answer === undefined) return <p class="empty">Counting…</p>;
  return (
    <section class="summary" aria-label="Summary">
      <dl class="tiles">
        {tiles(answer.summary).map(({ name, value, secondary, kind }) => (
          <div key={name} class={`tile of-${kind}`}>
            <dt>{name}</dt>
            <dd>
              {value} <small>{secondary}</small>
            </dd>
          </div>
        ))}
      </dl>
      <Notes {...answer} />
    </section>
  );
}

function Notes({ caveats, ended }: SummaryAnswer): JSX.Element | null {
  const notes = [...caveats, ...ended.map((why) => `the recording stopped: ${why}`)];
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>{sentence(note)}</li>
      ))}
    </ul>
  );
}
