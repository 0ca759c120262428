import type { JSX } from "preact";

/** Traffic over the whole time, in which a stretch can be chosen. */
export function Overview(): JSX.Element {
  return <p class="empty">Traffic</p>;
}
