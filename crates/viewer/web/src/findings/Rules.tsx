import type { JSX } from "preact";
import type { Rule } from "../generated/protocol";

interface RulesProps {
  readonly rules: readonly Rule[];
  readonly isOpen: boolean;
}

/** The rules that were checked. */
export function Rules({ rules, isOpen }: RulesProps): JSX.Element {
  return (
    <details class="findings-rules" open={isOpen}>
      <summary>All rules</summary>
      <ul>
        {rules.map((rule) => (
          <li key={rule.id} title={rule.meaning}>
            <code>{rule.id}</code> {rule.title}
            <small>
              {" "}
              severity {rule.severity}; needs {rule.needs}
            </small>
          </li>
        ))}
      </ul>
    </details>
  );
}
