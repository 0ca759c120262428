import type { JSX } from "preact";

export function FindingsView(): JSX.Element {
  return <p class="empty">FindingsView</p>;
}
