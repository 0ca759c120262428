// The edge between two parts of the page, which is dragged, or moved by keys.

import type { CSSProperties, JSX, TargetedPointerEvent } from "preact";

interface EdgeProps {
  /** What it makes wider, for those who cannot see it. */
  readonly label: string;
  readonly class?: string;
  readonly style?: CSSProperties;
  /** In pixels, as is all below. */
  readonly width: number;
  readonly least: number;
  readonly most: number;
  /** To which side it is moved for more width. */
  readonly wider: "left" | "right";
  /** The width if the edge were at this place of the window. */
  readonly widthAt: (clientX: number) => number;
  /** Told of another width, which may be too small or too large; undefined is as at first. */
  readonly onWidth: (width: number | undefined) => void;
}

export function Edge(props: EdgeProps): JSX.Element {
  const { width, least, most, widthAt, onWidth } = props;
  const move = (event: TargetedPointerEvent<HTMLElement>): void => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) onWidth(widthAt(event.clientX));
  };
  const press = (event: KeyboardEvent): void => {
    const pressed = afterKey(event.key, props);
    if (pressed === undefined) return;
    onWidth(pressed.width);
    event.preventDefault();
  };
  return (
    <div
      class={`edge ${props.class ?? ""}`}
      style={props.style}
      role="separator"
      title="Drag, or use the arrows; a double click, or Enter, is as at first"
      aria-label={props.label}
      aria-orientation="vertical"
      aria-valuenow={Math.round(width)}
      aria-valuemin={Math.round(least)}
      aria-valuemax={Math.round(most)}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={move}
      onDblClick={() => onWidth(undefined)}
      onKeyDown={press}
    />
  );
}

/** The width after a key; undefined if the key says nothing. */
export function afterKey(
  key: string,
  { width, least, most, wider }: Pick<EdgeProps, "width" | "least" | "most" | "wider">,
): { readonly width: number | undefined } | undefined {
  const step = wider === "right" ? STEP : -STEP;
  switch (key) {
    case "ArrowRight":
      return { width: width + step };
    case "ArrowLeft":
      return { width: width - step };
    case "Home":
      return { width: least };
    case "End":
      return { width: most };
    case "Enter":
      return { width: undefined };
    default:
      return undefined;
  }
}

/** Pixels for a press of a key. */
const STEP = 20;
