// Names where there is little room: their last words say most.

/** Whether a text is a name, of which the last words say most, and not a sentence or a rule. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Words with dots or slashes between them; what a name may have behind it stands in brackets. */
const NAME = /^[^\s'"=]*[^\s'"=./][./][^\s'"=]+$/u;

/** A name as it fits: whole, or its last words behind an ellipsis, or its last word if not even that fits. */
export function cutName(name: string, fits: (text: string) => boolean): string {
  if (fits(name)) return name;
  const starts = [...name.matchAll(WORD_START)].map(({ index }) => index + 1);
  const cut = starts.map((start) => `…${name.slice(start)}`);
  return cut.find(fits) ?? cut.at(-1) ?? name;
}

/** A dot or slash in front of a word. */
const WORD_START = /[./](?=[^./])/gu;
