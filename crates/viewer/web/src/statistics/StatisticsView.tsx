import type { JSX } from "preact";

export function StatisticsView(): JSX.Element {
  return <p class="empty">StatisticsView</p>;
}
