// Names where there is little room: their last words say most.

/** Whether a text is a name, of which the last words say most, and not a sentence or a rule. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Words with dots or slashes between them; what a name may have behind it stands in brackets. */
const NAME = /^[^\s'"=]*[^\s'"=./][./][^\s'"=]+$/u;
