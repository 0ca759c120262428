// The color of a service, the same everywhere on the page.

/** The hue of a name in degrees. It is always the same for the same name. */
export function hueOf(label: string): number {
  let hash = 0;
  for (let at = 0; at < label.length; at++) hash = (hash * 31 + label.charCodeAt(at)) >>> 0;
  // The golden angle separates names that differ only in their last character.
  return Math.round((hash * 137.508) % 360);
}

/** The color of a name. All colors have the same lightness and chroma. */
export function colorOf(label: string): string {
  return `oklch(66% 0.15 ${hueOf(label)})`;
}
