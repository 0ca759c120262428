import type { JSX } from "preact";

export function CompareView(): JSX.Element {
  return <p class="empty">CompareView</p>;
}
