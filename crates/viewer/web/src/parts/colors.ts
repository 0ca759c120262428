// The colors of the theme, for drawing on a canvas.

/** The names of colors, with their custom properties in the style sheet. */
const NAMES = {
  paper: "--paper",
  ground: "--ground",
  raised: "--raised",
  line: "--line",
  ink: "--ink",
  soft: "--soft",
  faint: "--faint",
  accent: "--accent",
  accentSoft: "--accent-soft",
  marked: "--marked",
  call: "--call",
  return: "--return",
  error: "--error",
  signal: "--signal",
  bus: "--bus",
  waiting: "--waiting",
  slow: "--slow",
  verySlow: "--very-slow",
  good: "--good",
} as const;

export type Colors = Readonly<Record<keyof typeof NAMES, string>>;

/** The colors until the style sheet is read. */
export const NO_COLORS: Colors = colorsBy(() => "transparent");

/** The current colors of the style sheet for an element. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  return colorsBy((name) => style.getPropertyValue(name).trim());
}

function colorsBy(read: (name: string) => string): Colors {
  const colors: Record<string, string> = {};
  for (const [name, property] of Object.entries(NAMES)) colors[name] = read(property);
  // All names are present.
  return colors as Colors;
}
