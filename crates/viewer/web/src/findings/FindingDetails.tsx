// The details of a finding: its description, evidence and advice.

import type { JSX } from "preact";
import type { Finding, Rule } from "../generated/protocol";
import { CopyButton } from "../parts/CopyButton";
import { Evidence } from "./Evidence";
import { costWords, partyWords, SEVERITY_WORDS, textOf } from "./model";

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
        <dt>Peer</dt>
        <dd>{partyWords(finding.who)}</dd>
        <dt>Cost</dt>
        <dd>{cost.length > 0 ? cost.join(", ") : "not measured"}</dd>
        <dt>Confidence</dt>
        <dd>{finding.confidence}</dd>
        <dt>Messages</dt>
        <dd>
          <Evidence finding={finding} />
        </dd>
        <dt>Advice</dt>
        <dd>{finding.advice}</dd>
        {finding.check && (
          <>
            <dt>Check</dt>
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

function Explanation({ rule }: { readonly rule: Rule }): JSX.Element {
  return (
    <section class="finding-rule" aria-label="Rule">
      <h3>
        <code>{rule.id}</code> {rule.title}
      </h3>
      <p>{rule.meaning}</p>
      {rule.thresholds.length > 0 && (
        <>
          <p>Thresholds:</p>
          <ul>
            {rule.thresholds.map((threshold) => (
              <li key={threshold}>{threshold}</li>
            ))}
          </ul>
        </>
      )}
      {rule.needs !== ANYTHING && <p class="findings-extent">Needs {rule.needs}.</p>}
    </section>
  );
}

/** The requirement of rules that can be checked in every recording. */
const ANYTHING = "any recording";
