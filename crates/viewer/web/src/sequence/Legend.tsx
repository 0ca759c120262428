// The legend: the meaning of the symbols in the diagram.

import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Ending } from "../model/outcome";
import { usePressOutside } from "../parts/usePressOutside";
import { useStore } from "../state/context";
import type { PageState } from "../state/page";
import { INSIDE, RADIUS } from "./paint/endings";

/** Shows or hides the legend. */
export function toggleLegend({ isLegendOpen }: PageState): void {
  isLegendOpen.value = !isLegendOpen.value;
}

type MarkShape = readonly [mark: JSX.Element, meaning: string];

/** A section of the legend. */
interface LegendPart {
  readonly title: string;
  readonly shapes: readonly MarkShape[];
}

interface LegendLineProps {
  readonly color: string;
  readonly dash?: string;
  readonly strength?: number;
  readonly children?: ComponentChildren;
}

function Line({ color, dash, strength = 1.5, children }: LegendLineProps): JSX.Element {
  return (
    <g style={{ stroke: `var(--${color})`, fill: `var(--${color})` }} stroke-width={strength}>
      <line x1="4" y1="9" x2="40" y2="9" stroke-dasharray={dash} />
      {children}
    </g>
  );
}

const HEAD = <path d="M40 9l-8-3v6z" stroke="none" />;

const arrow = (color: string, strength?: number): JSX.Element => (
  <Line color={color} {...(strength === undefined ? {} : { strength })}>
    {HEAD}
  </Line>
);

const bracket = (color: string, isStrong = false): JSX.Element => (
  <path
    d="M30 3h-8q-8 0-8 6t8 6h8"
    style={{ stroke: `var(--${color})`, fill: "none" }}
    stroke-dasharray={isStrong ? undefined : "3 3"}
    stroke-width={isStrong ? 2 : 1.5}
  />
);

const ring = (ending: Ending, color: string): JSX.Element => (
  <g style={{ stroke: `var(--${color})`, fill: "var(--paper)" }} transform="translate(22 9)">
    <circle r={RADIUS} />
    {(INSIDE[ending] ?? []).map(([x1, y1, x2, y2]) => (
      <line key={`${x1} ${y1}`} x1={x1} y1={y1} x2={x2} y2={y2} />
    ))}
  </g>
);

const ground = (color: string): JSX.Element => (
  <rect x="2" y="1" width="40" height="16" style={{ fill: `var(--${color})` }} />
);

const PARTS: readonly LegendPart[] = [
  {
    title: "Calls and replies",
    shapes: [
      [arrow("call"), "Call"],
      [arrow("return"), "Return"],
      [
        <Line key="error" color="error">
          {HEAD}
          <path d="M29 4v10" />
        </Line>,
        "Error",
      ],
      [arrow("slow"), "Call or return of a slow call: 100 ms or more"],
      [arrow("very-slow"), "Very slow: 1 s or more"],
      [bracket("return"), "From a reply to its call, with the duration"],
      [bracket("very-slow", true), "The same for a very slow call"],
      [
        <g key="bar">
          <rect x="18" y="1" width="7" height="6" style={{ fill: "var(--waiting)" }} />
          <rect x="18" y="7" width="7" height="10" style={{ fill: "var(--call)", opacity: 0.4 }} />
        </g>,
        "The call is in the bus, then with its service",
      ],
      [
        <text key="gray" x="4" y="13" style={{ fill: "var(--faint)" }} font-style="italic">
          Get
        </text>,
        "Gray name: the reply to a call of this name",
      ],
    ],
  },
  {
    title: "Calls that the service did not answer",
    shapes: [
      [ring("waiting", "very-slow"), "No reply until the end of the recording"],
      [ring("caller-left", "very-slow"), "The caller disconnected before the reply"],
      [ring("timed-out", "error"), "Timed out: the bus replied instead of the service"],
      [ring("callee-left", "error"), "The service disconnected without a reply"],
      [
        <Line key="lost" color="call">
          <circle cx="36" cy="9" r="4" style={{ fill: "var(--paper)" }} />
          <path d="M34 7l4 4M34 11l4-4" />
        </Line>,
        "A call to a name without an owner",
      ],
    ],
  },
  {
    title: "Signals",
    shapes: [
      [
        <Line key="signal" color="signal">
          {HEAD}
          <circle cx="8" cy="9" r="4" />
        </Line>,
        "A signal, to the connections that got it",
      ],
      [
        <circle
          key="unreceived"
          cx="22"
          cy="9"
          r="4"
          style={{ stroke: "var(--signal)", fill: "var(--paper)" }}
        />,
        "A signal that no match rule selects",
      ],
      [
        <g key="rays" style={{ stroke: "var(--signal)", fill: "var(--signal)" }}>
          <path d="M8 9h28M14 3l16 12M14 15l16-12" />
          <circle cx="22" cy="9" r="4" />
        </g>,
        "A signal whose recipients were not recorded",
      ],
    ],
  },
  {
    title: "Columns and rows",
    shapes: [
      [<path key="came" d="M22 4v14M15 4h14" style={{ stroke: "var(--soft)" }} />, "Connected"],
      [
        <path key="left" d="M22 0v9M17 4l10 10M17 14l10-10" style={{ stroke: "var(--soft)" }} />,
        "Disconnected",
      ],
      [
        <text key="far" x="0" y="13" style={{ fill: "var(--call)" }} font-size="10">
          → name
        </text>,
        "A peer that is out of view; click to scroll to it",
      ],
      [ground("marked"), "Selected"],
      [ground("accent-soft"), "The reply or the call of the selected message"],
      [
        <text key="up" x="4" y="13" style={{ fill: "var(--soft)" }} font-size="11">
          ↑ 1.2 s
        </text>,
        "Received before the message above: rows are in the order in which the bus routed them",
      ],
    ],
  },
];

export function Legend(): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const { page } = useStore();
  const isOpen = page.isLegendOpen.value;
  usePressOutside(place, isOpen, () => {
    page.isLegendOpen.value = false;
  });
  return (
    <div class="sequence-marks" ref={place}>
      <button
        type="button"
        class="sequence-toggle"
        title="Legend (l)"
        aria-expanded={isOpen}
        onClick={() => toggleLegend(page)}
      >
        Legend
      </button>
      {isOpen ? (
        <section class="sequence-marks-list" aria-label="Legend">
          {PARTS.map(({ title, shapes }) => (
            <div key={title}>
              <h3>{title}</h3>
              <ul>
                {shapes.map(([mark, meaning]) => (
                  <li key={meaning}>
                    <svg width="44" height="18" aria-hidden="true" stroke-width="1.5">
                      {mark}
                    </svg>
                    {meaning}
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </section>
      ) : null}
    </div>
  );
}
