// One finding: what it says, what shows it, what to do.

import type { JSX } from "preact";
import { CopyButton } from "../parts/CopyButton";
import { count, counted } from "../parts/format";
import { useStore } from "../state/context";
import { costWords, type Finding, type Rule, SEVERITY_WORDS, textOf, whoWords } from "./model";

interface FindingDetailsProps {
  readonly finding: Finding;
  readonly rule: Rule | undefined;
}

export function FindingDetails({ finding, rule }: FindingDetailsProps): JSX.Element {
  const cost = costWords(finding.cost);
  return (
    <>
      <header>
        <span class={`severity severity-${finding.severity}`}>
          {SEVERITY_WORDS[finding.severity]}
        </span>
        <h2>{finding.title}</h2>
        <CopyButton label="Copy as text" text={() => textOf(finding)} />
      </header>
      <p class="finding-sentence">
        <b>{finding.who.label}</b> {finding.says}.
      </p>
      <dl>
        <dt>Who</dt>
        <dd>{whoWords(finding.who)}</dd>
        <dt>Costs</dt>
        <dd>{cost.length > 0 ? cost.join(", ") : "nothing that shows"}</dd>
        <dt>Confidence</dt>
        <dd>{finding.confidence}</dd>
        <dt>Shown by</dt>
        <dd>
          <Evidence finding={finding} />
        </dd>
        <dt>What to do</dt>
        <dd>{finding.advice}</dd>
        {finding.check && (
          <>
            <dt>Whether it helped</dt>
            <dd>
              <code>{finding.check}</code>
            </dd>
          </>
        )}
      </dl>
      {rule && <Explanation rule={rule} />}
    </>
  );
}

/** The messages that show it, and the way to all of them. */
function Evidence({ finding }: { readonly finding: Finding }): JSX.Element {
  const store = useStore();
  const { evidence, query } = finding;
  const { before } = store.recording.value;
  const showAll = (): void => {
    store.setQuery(query);
    const first = evidence.first[0];
    if (first !== undefined) store.selectNumber(first);
    store.view.value = "sequence";
  };
  return (
    <div class="finding-evidence">
      {evidence.first.length === 0 && "the recording as a whole"}
      {evidence.first.map((number) => (
        <button
          key={number}
          type="button"
          class="number"
          disabled={number <= before}
          aria-pressed={store.selected.value === number - 1 - before}
          onClick={() => store.selectNumber(number)}
        >
          {count(number)}
        </button>
      ))}
      {evidence.count > evidence.first.length && (
        <span>of {counted(evidence.count, "message", "messages")}</span>
      )}
      {query !== "" && (
        <button type="button" class="copy" title={query} onClick={showAll}>
          Show these in the sequence
        </button>
      )}
    </div>
  );
}

function Explanation({ rule }: { readonly rule: Rule }): JSX.Element {
  return (
    <section class="finding-rule" aria-label="The rule">
      <h3>
        <code>{rule.id}</code> {rule.title}
      </h3>
      <p>{rule.meaning}</p>
      {rule.thresholds.length > 0 && (
        <ul>
          {rule.thresholds.map((threshold) => (
            <li key={threshold}>{threshold}</li>
          ))}
        </ul>
      )}
      <p class="findings-extent">Needs {rule.needs}.</p>
    </section>
  );
}
