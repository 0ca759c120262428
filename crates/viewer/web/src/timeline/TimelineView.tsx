import type { JSX } from "preact";

export function TimelineView(): JSX.Element {
  return <p class="empty">TimelineView</p>;
}
