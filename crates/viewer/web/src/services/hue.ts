// The colour by which a service is known wherever it is shown.

/** The angle of a hue in degrees; of the same name always the same. */
export function hueOf(label: string): number {
  let hash = 0;
  for (let at = 0; at < label.length; at++) hash = (hash * 31 + label.charCodeAt(at)) >>> 0;
  // The golden angle keeps names apart that differ in their last letter.
  return Math.round((hash * 137.508) % 360);
}

/** The colour itself: as light and as strong as that of all others. */
export function colorOf(label: string): string {
  return `oklch(66% 0.15 ${hueOf(label)})`;
}
