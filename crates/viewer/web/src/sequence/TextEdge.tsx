// The movable edge between the names of messages and the columns.

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Edge } from "../parts/Edge";
import type { Diagram } from "./Diagram";
import { textAt, textBounds } from "./model/geometry";

export function TextEdge({ diagram }: { readonly diagram: Diagram }): JSX.Element {
  const { textWidth } = diagram.subject.state;
  const place = useRef<HTMLDivElement>(null);
  const { left, time, width } = diagram.divided.value;
  const { least, most } = textBounds(width);
  const clamped = (text: number): number => Math.round(Math.min(Math.max(text, least), most));
  return (
    <div class="sequence-edge-place" ref={place}>
      <Edge
        label="Width of the names of messages"
        class="sequence-edge"
        style={{ left: `${left - EDGE / 2}px` }}
        width={textAt(width, left, time)}
        least={least}
        most={most}
        wider="right"
        widthAt={(clientX) =>
          textAt(width, clientX - (place.current?.getBoundingClientRect().left ?? 0), time)
        }
        onWidth={(to) => (textWidth.value = to === undefined ? null : clamped(to))}
      />
    </div>
  );
}

/** The width of the edge in pixels. */
const EDGE = 8;
