// The colours and letters of the page, for the canvas.

import type { Colours } from "../../parts/colours";

/** What the diagram is painted with. */
export interface Theme extends Colours {
  readonly fonts: Fonts;
}

/** Letters as the canvas has them. */
export interface Fonts {
  readonly small: string;
  readonly plain: string;
  readonly italic: string;
  readonly bold: string;
  readonly head: string;
}

/** These colours, with the letters of the page. */
export function themeOf(colours: Colours): Theme {
  const sans = getComputedStyle(document.documentElement).getPropertyValue("--sans").trim();
  const fonts = {
    small: `11px ${sans}`,
    plain: `12.5px ${sans}`,
    italic: `italic 12px ${sans}`,
    bold: `600 12.5px ${sans}`,
    head: `600 12px ${sans}`,
  };
  return { ...colours, fonts };
}
