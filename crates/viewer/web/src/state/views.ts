// The views of the page, by their names in its address.

export const VIEWS = [
  {
    name: "sequence",
    title: "Sequence",
    about: "Who talks to whom, message by message",
    words: "diagram arrows messages zoom legend fold columns",
  },
  {
    name: "statistics",
    title: "Statistics",
    about: "How often, how long, how large",
    words:
      "counts durations latency percentiles sizes histogram charts tables csv match rules replies",
  },
  {
    name: "timeline",
    title: "Timeline",
    about: "Where time goes, process by process",
    words: "tracks processes zoom slowest calls bus overhead start-ups",
  },
  {
    name: "findings",
    title: "Findings",
    about: "What is wrong, and what to do",
    words: "lint problems warnings slow rules severity",
  },
  {
    name: "compare",
    title: "Compare",
    about: "What differs between two recordings",
    words: "diff before after regression side by side",
  },
  {
    name: "objects",
    title: "Objects",
    about: "What the services of a live bus offer",
    words: "browse introspect call methods set properties signals names services",
  },
] as const;

export type ViewName = (typeof VIEWS)[number]["name"];

/** True if a text is the name of a view. */
export function isView(name: string): name is ViewName {
  return VIEWS.some((view) => view.name === name);
}
