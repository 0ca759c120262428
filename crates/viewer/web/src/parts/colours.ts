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

export type Colours = Readonly<Record<keyof typeof NAMES, string>>;

/** The colors until the style sheet is read. */
export const NO_COLOURS: Colours = coloursBy(() => "transparent");

/** The current colors of the style sheet for an element. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  return coloursBy((name) => style.getPropertyValue(name).trim());
}

function coloursBy(read: (name: string) => string): Colours {
  const colours: Record<string, string> = {};
  for (const [name, property] of Object.entries(NAMES)) colours[name] = read(property);
  // All names are present.
  return colours as Colours;
}
