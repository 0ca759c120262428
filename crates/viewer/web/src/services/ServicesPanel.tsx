import type { JSX } from "preact";

/** The services of the recording, each of which can be unticked. */
export function ServicesPanel(): JSX.Element {
  return <p class="empty">Services</p>;
}
