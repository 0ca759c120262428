// Makes invisible characters in texts of messages visible.

/** A part of a text: literal characters, or a mark that replaces an invisible character. */
export interface TextStretch {
  readonly text: string;
  readonly isMark: boolean;
}

/**
 * Splits a text and marks all characters that are invisible or change the direction of writing. A
 * line break becomes a mark followed by the line break.
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
 * Splits a text where a line can break: after dots, slashes and similar characters, and before
 * capitals. Names then break between words rather than inside of them.
 */
export function pieces(text: string): readonly string[] {
  return text.split(/(?<=[./_:=-])(?=[^./_:=-])|(?<=[a-z0-9])(?=[A-Z])/);
}

/** A text in one line, with marks for invisible characters, cut after `max` characters. */
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

/** Control, format and private-use characters, surrogates, and spaces other than U+0020. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
