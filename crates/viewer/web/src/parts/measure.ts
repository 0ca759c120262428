// Widths of text on the page.

/** The width in pixels of a text in the font of the page. */
export function textWidth(text: string, weight: "normal" | "600" = "normal"): number {
  const context = contextOf(weight);
  return context === null ? text.length * USUAL_LETTER : context.measureText(text).width;
}

function contextOf(weight: string): CanvasRenderingContext2D | null {
  const known = contexts.get(weight);
  if (known !== undefined) return known;
  const context = document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  if (context !== null) context.font = `${weight} ${fontSize} ${fontFamily}`;
  contexts.set(weight, context);
  return context;
}

const contexts = new Map<string, CanvasRenderingContext2D | null>();

/** The assumed width in pixels of a character if there is no canvas. */
const USUAL_LETTER = 8;
