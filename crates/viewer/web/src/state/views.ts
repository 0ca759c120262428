// The views of the page, by the names that its address has.

export const VIEWS = [
  { name: "sequence", title: "Sequence", about: "Who talks to whom, message by message" },
  { name: "statistics", title: "Statistics", about: "How often, how long, how large" },
  { name: "timeline", title: "Timeline", about: "Where time goes, process by process" },
  { name: "findings", title: "Findings", about: "What is wrong, and what to do" },
  { name: "compare", title: "Compare", about: "What is different between two recordings" },
  { name: "objects", title: "Objects", about: "What a running bus has to offer" },
] as const;

export type ViewName = (typeof VIEWS)[number]["name"];

/** Whether a text is the name of a view. */
export function isView(name: string): name is ViewName {
  return VIEWS.some((view) => view.name === name);
}
