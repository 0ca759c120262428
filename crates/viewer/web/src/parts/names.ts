// Shortened names. Their last components are the most significant.

/** True if a text is a name with components, and not a sentence or a match rule. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Components separated by dots or slashes, without spaces, quotes or equal signs. */
const NAME = /^[^\s'"=]*[^\s'"=./][./][^\s'"=]+$/u;

/**
 * A name that fits: complete, or its last components after an ellipsis, or at least its last
 * component.
 */
export function cutName(name: string, fits: (text: string) => boolean): string {
  if (fits(name)) return name;
  const starts = [...name.matchAll(WORD_START)].map(({ index }) => index + 1);
  const cut = starts.map((start) => `…${name.slice(start)}`);
  return cut.find(fits) ?? cut.at(-1) ?? name;
}

/** A dot or slash before a component. */
const WORD_START = /[./](?=[^./])/gu;
