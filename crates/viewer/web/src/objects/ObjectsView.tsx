import type { JSX } from "preact";

export function ObjectsView(): JSX.Element {
  return <p class="empty">ObjectsView</p>;
}
