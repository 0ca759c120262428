import type { JSX } from "preact";

/** Everything about the selected message. */
export function DetailsPanel(): JSX.Element {
  return <p class="empty">Details</p>;
}
