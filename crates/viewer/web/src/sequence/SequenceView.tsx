import type { JSX } from "preact";

export function SequenceView(): JSX.Element {
  return <p class="empty">SequenceView</p>;
}
