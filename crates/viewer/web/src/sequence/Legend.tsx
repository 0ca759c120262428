// What the marks of the diagram mean.

import type { JSX } from "preact";

type Shape = readonly [mark: JSX.Element, meaning: string];

const line = (color: string, end: JSX.Element | null, dash?: string): JSX.Element => (
  <g style={{ stroke: `var(--${color})`, fill: `var(--${color})` }}>
    <line x1="4" y1="9" x2="40" y2="9" stroke-dasharray={dash} />
    {end}
  </g>
);
const head = <path d="M40 9l-8-3v6z" stroke="none" />;

const MARKS: readonly Shape[] = [
  [line("call", head), "a call"],
  [line("return", head), "its return"],
  [line("error", head), "its error"],
  [
    <path
      key="arc"
      d="M30 3h-8q-8 0-8 6t8 6h8"
      style={{ stroke: "var(--return)", fill: "none" }}
      stroke-dasharray="3 3"
    />,
    "from a reply to its call, with the time between them",
  ],
  [
    <g key="bar">
      <rect x="18" y="1" width="7" height="6" style={{ fill: "var(--waiting)" }} />
      <rect x="18" y="7" width="7" height="10" style={{ fill: "var(--call)", opacity: 0.4 }} />
    </g>,
    "a call inside the bus, and then with its service",
  ],
  [
    line("call", <circle cx="40" cy="9" r="4" style={{ fill: "var(--paper)" }} />),
    "a call to a name that nobody owns",
  ],
  [line("signal", <circle cx="22" cy="9" r="4" />), "a signal, to those who got it"],
  [
    <circle
      key="unheard"
      cx="22"
      cy="9"
      r="4"
      style={{ stroke: "var(--signal)", fill: "var(--paper)" }}
    />,
    "a signal that nobody listens to",
  ],
  [
    <g key="rays" style={{ stroke: "var(--signal)", fill: "var(--signal)" }}>
      <path d="M8 9h28M14 3l16 12M14 15l16-12" />
      <circle cx="22" cy="9" r="4" />
    </g>,
    "a signal of which the recording does not know who got it",
  ],
];

export function Legend(): JSX.Element {
  return (
    <details class="sequence-marks">
      <summary class="sequence-toggle" title="What the marks mean">
        Marks
      </summary>
      <div class="sequence-marks-list">
        <ul>
          {MARKS.map(([mark, meaning]) => (
            <li key={meaning}>
              <svg width="44" height="18" aria-hidden="true" stroke-width="1.5">
                {mark}
              </svg>
              {meaning}
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}
