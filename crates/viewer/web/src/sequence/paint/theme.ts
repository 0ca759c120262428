// The colours and letters of the page, for the canvas.

/** Colours by the names that the style sheet has. */
export interface Theme {
  readonly paper: string;
  readonly ground: string;
  readonly line: string;
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly marked: string;
  readonly call: string;
  readonly reply: string;
  readonly error: string;
  readonly signal: string;
  readonly waiting: string;
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

/** Reads what is valid now. */
export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  const sans = read("--sans");
  return {
    paper: read("--paper"),
    ground: read("--ground"),
    line: read("--line"),
    ink: read("--ink"),
    soft: read("--soft"),
    faint: read("--faint"),
    accent: read("--accent"),
    accentSoft: read("--accent-soft"),
    marked: read("--marked"),
    call: read("--call"),
    reply: read("--return"),
    error: read("--error"),
    signal: read("--signal"),
    waiting: read("--waiting"),
    fonts: {
      small: `11px ${sans}`,
      plain: `12.5px ${sans}`,
      italic: `italic 12px ${sans}`,
      bold: `600 12.5px ${sans}`,
      head: `600 12px ${sans}`,
    },
  };
}

/** Tells whenever colours have become others; gives what ends that. */
export function watchTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}
