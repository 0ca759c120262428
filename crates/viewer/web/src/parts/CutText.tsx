import { createContext, type JSX } from "preact";
import { useContext } from "preact/hooks";
import { textWidth } from "./measure";
import { cutName, isName } from "./names";
import { oneLine } from "./visibleText";

/** The available width in pixels where it is known, as in table cells. */
export const Room = createContext<number | undefined>(undefined);

interface CutTextProps {
  readonly text: string;
  /** The width in pixels of other content in the same space. */
  readonly reserved?: number;
}

/**
 * A text that is cut to the available width: names at their beginning, other texts at their end.
 */
export function CutText({ text, reserved = 0 }: CutTextProps): JSX.Element {
  const room = useContext(Room);
  const line = oneLine(text);
  const whole = <bdi dir="ltr">{line}</bdi>;
  if (!isName(text)) return <span class="cut-text">{whole}</span>;
  if (room === undefined) return <span class="cut-text keeps-end">{whole}</span>;
  const cut = cutName(line, (part) => textWidth(part) <= room - reserved);
  if (cut === line) return <span class="cut-text">{whole}</span>;
  // The complete name stays in the document, for screen readers and for copying.
  return (
    <span class="cut-text is-cut" data-cut={cut}>
      {whole}
    </span>
  );
}
