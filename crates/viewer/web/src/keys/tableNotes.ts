// Keys of tables, which act while a table has the focus: parts/DataTable.

import type { KeyNote } from "./keys";

export const TABLE_NOTES: readonly KeyNote[] = [
  { keys: ["ArrowDown", "j"], about: "Next row" },
  { keys: ["ArrowUp", "k"], about: "Previous row" },
  { keys: ["PageDown", "PageUp"], about: "Next or previous page of rows" },
  { keys: ["Home", "End"], about: "First or last row" },
  { keys: ["Enter"], about: "Use the row" },
  { keys: ["Shift+F10"], about: "Open the context menu of the row" },
  { keys: ["Alt+ArrowLeft", "Alt+ArrowRight"], about: "Resize the column, in its heading" },
];
