// The views of the page, by their names in its address.

export const VIEWS = [
  {
    name: "sequence",
    title: "Sequence",
    about: "Messages between peers, in order",
    words: "diagram arrows messages zoom legend fold columns",
  },
  {
    name: "statistics",
    title: "Statistics",
    about: "Counts, durations and sizes of messages",
    words:
      "counts durations latency percentiles sizes histogram charts tables csv match rules replies",
  },
  {
    name: "timeline",
    title: "Timeline",
    about: "Where the time goes, for each process",
    words: "tracks processes zoom slowest calls bus overhead starts of services start-ups",
  },
  {
    name: "findings",
    title: "Findings",
    about: "Problems and recommended fixes",
    words: "lint problems warnings slow rules severity",
  },
  {
    name: "compare",
    title: "Compare",
    about: "Differences between two recordings",
    words: "diff before after regression side by side",
  },
  {
    name: "objects",
    title: "Objects",
    about: "Objects, methods and properties of the services of a live bus",
    words: "browse introspect call methods set properties signals names services",
  },
] as const;

export type ViewName = (typeof VIEWS)[number]["name"];

/** True if a text is the name of a view. */
export function isView(name: string): name is ViewName {
  return VIEWS.some((view) => view.name === name);
}
