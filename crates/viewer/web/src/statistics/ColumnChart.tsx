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
  /** What it shows, in a sentence. */
  readonly about: string;
  /** What stands under the columns together. */
  readonly axis: string;
  readonly columns: readonly ChartColumn[];
}

/** Columns beside each other, which are a list for those who cannot see them. The highest is marked. */
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
