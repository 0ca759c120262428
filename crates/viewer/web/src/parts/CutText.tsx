import { createContext, type JSX } from "preact";
import { useContext } from "preact/hooks";
import { textWidth } from "./measure";
import { cutName, isName } from "./names";
import { oneLine } from "./visibleText";

/** The pixels that a text has room in, where they are known: in the cells of tables. */
export const Room = createContext<number | undefined>(undefined);

interface CutTextProps {
  readonly text: string;
  /** Pixels of what stands beside it. */
  readonly beside?: number;
}

/** A text that is cut where there is no room for all of it: names at their begin, all else at its end. */
export function CutText({ text, beside = 0 }: CutTextProps): JSX.Element {
  const room = useContext(Room);
  const line = oneLine(text);
  const whole = <bdi dir="ltr">{line}</bdi>;
  if (!isName(text)) return <span class="cut-text">{whole}</span>;
  if (room === undefined) return <span class="cut-text keeps-end">{whole}</span>;
  const cut = cutName(line, (part) => textWidth(part) <= room - beside);
  if (cut === line) return <span class="cut-text">{whole}</span>;
  // The whole name stays in the document, for screen readers and for copies.
  return (
    <span class="cut-text is-cut" data-cut={cut}>
      {whole}
    </span>
  );
}
