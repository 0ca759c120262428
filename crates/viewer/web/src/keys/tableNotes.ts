// Keys that work while a table has the focus, which `parts/DataTable` handles.

import type { KeyNote } from "./keys";

export const TABLE_NOTES: readonly KeyNote[] = [
  { keys: ["ArrowDown", "j"], about: "Next row" },
  { keys: ["ArrowUp", "k"], about: "Previous row" },
  { keys: ["PageDown", "PageUp"], about: "Next or previous page of rows" },
  { keys: ["Home", "End"], about: "First or last row" },
  { keys: ["Enter"], about: "Activate the row" },
  { keys: ["Shift+F10"], about: "Open the context menu of the row" },
  { keys: ["Alt+ArrowLeft", "Alt+ArrowRight"], about: "Resize the column of the focused heading" },
];
