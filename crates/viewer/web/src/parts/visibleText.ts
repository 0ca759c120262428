// Texts from messages, in which nothing is unseen.

/** A stretch of a text: as it stands, or what stands for a character that is not seen. */
export interface TextStretch {
  readonly text: string;
  readonly isMark: boolean;
}

/**
 * A text in stretches, with marks for all characters that are not seen or that change the direction
 * of writing. A line that ends is a mark and a line end.
 */
export function stretches(text: string): readonly TextStretch[] {
  const found: TextStretch[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index > end) found.push({ text: text.slice(end, index), isMark: false });
    found.push({ text: markOf(character), isMark: true });
    if (character === "\n") found.push({ text: "\n", isMark: false });
    end = index + character.length;
  }
  if (end < text.length) found.push({ text: text.slice(end), isMark: false });
  return found;
}

/**
 * A text in pieces between which a line may end: behind dots, slashes and the like, and before capitals.
 * Names are broken there rather than in a word.
 */
export function pieces(text: string): readonly string[] {
  return text.split(/(?<=[./_:=-])(?=[^./_:=-])|(?<=[a-z0-9])(?=[A-Z])/);
}

/** A text in one line, with marks for what is not seen; no longer than `max`. */
export function oneLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut.replace(UNSEEN, markOf);
}

function markOf(character: string): string {
  const known = NAMES[character];
  if (known !== undefined) return known;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `\\u${code.length > 4 ? `{${code}}` : code.padStart(4, "0")}`;
}

const NAMES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\0": "\\0",
};

/** Control and format characters, private ones, and halves of characters; blanks that look like none. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
