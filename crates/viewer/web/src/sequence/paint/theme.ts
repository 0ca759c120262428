// The colors and fonts of the page, for the canvas.

import type { Colors } from "../../parts/colors";

/** The colors and fonts of the diagram. */
export interface Theme extends Colors {
  readonly fonts: Fonts;
}

/** Fonts in the format of the canvas. */
export interface Fonts {
  readonly small: string;
  readonly plain: string;
  readonly italic: string;
  readonly bold: string;
  readonly head: string;
}

/** Combines colors with the fonts of the page. */
export function themeOf(colors: Colors): Theme {
  const sans = getComputedStyle(document.documentElement).getPropertyValue("--sans").trim();
  const fonts = {
    small: `11px ${sans}`,
    plain: `12.5px ${sans}`,
    italic: `italic 12px ${sans}`,
    bold: `600 12.5px ${sans}`,
    head: `600 12px ${sans}`,
  };
  return { ...colors, fonts };
}
