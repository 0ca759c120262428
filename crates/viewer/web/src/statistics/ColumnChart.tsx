import type { JSX } from "preact";

/** A column of a chart. */
export interface ChartColumn {
  readonly name: string;
  readonly value: number;
  readonly shown: string;
  readonly onChoose?: (() => void) | undefined;
}

interface ColumnChartProps {
  readonly title: string;
  /** An explanation of the chart, as a sentence. */
  readonly about: string;
  /** The label of the horizontal axis. */
  readonly axis: string;
  readonly columns: readonly ChartColumn[];
}

/** A column chart, which is a list for screen readers. The highest column is highlighted. */
export function ColumnChart({ title, about, axis, columns }: ColumnChartProps): JSX.Element {
  const most = columns.reduce((one, { value }) => Math.max(one, value), 0);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <p>{about}</p>
      </figcaption>
      <ul class="chart-columns">
        {columns.map(({ name, value, shown, onChoose }) => (
          <li key={name} class={value === most ? "chart-column most" : "chart-column"}>
            <button type="button" disabled={onChoose === undefined} onClick={() => onChoose?.()}>
              <span class="chart-value">{shown}</span>
              <span class="chart-bar" style={{ "--part": most > 0 ? value / most : 0 }} />
              <span class="chart-name">{name}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="chart-axis" aria-hidden="true">
        {axis}
      </p>
    </figure>
  );
}
