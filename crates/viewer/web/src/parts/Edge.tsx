// The edge between two parts of the page, which can be dragged or moved with keys.

import type { CSSProperties, JSX, TargetedPointerEvent } from "preact";

interface EdgeProps {
  /** The accessible name: the part that the edge resizes. */
  readonly label: string;
  readonly class?: string;
  readonly style?: CSSProperties;
  /** The current width in pixels. The limits are in pixels, too. */
  readonly width: number;
  readonly least: number;
  readonly most: number;
  /** The direction in which moving the edge increases the width. */
  readonly wider: "left" | "right";
  /** The width if the edge were at this horizontal position in the window. */
  readonly widthAt: (clientX: number) => number;
  /** Called with the new width, which can exceed the limits; undefined resets it to the default. */
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
      title="Drag or use the arrow keys to resize; double-click or press Enter to reset"
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

/** The width after a key press; undefined if the key has no meaning here. */
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

/** The change of the width in pixels per key press. */
const STEP = 20;
