// A bar with actions for the selected row of a table.

import type { JSX } from "preact";
import { CutText } from "../parts/CutText";
import type { Row } from "../parts/table";
import { useStore } from "../state/context";
import { nameOfRow, type RowMenu, type RowUse, rowActions } from "./rowMenu";

interface RowActionsProps {
  /** The name of the table. */
  readonly subject: string;
  /** The action for Enter and a double-click. */
  readonly use: RowUse;
  /** The selected row of the table. */
  readonly row: Row | undefined;
  readonly messageOf: ((row: Row) => RowMenu["message"]) | undefined;
}

export function RowActions({ subject, use, row, messageOf }: RowActionsProps): JSX.Element {
  const store = useStore();
  if (row === undefined) {
    return (
      <p class="row-actions note">
        Select a row. Enter or double-click: {use.hint}. Right-click: more actions.
      </p>
    );
  }
  const actions = rowActions({ store, subject, row, message: messageOf?.(row) }, use);
  return (
    <div class="row-actions" role="toolbar" aria-label="Selected row">
      <span class="row-actions-name">
        <CutText text={nameOfRow(row)} />
      </span>
      {actions.map(({ label, run }) => (
        <button key={label} type="button" class="copy" onClick={run}>
          {label}
        </button>
      ))}
    </div>
  );
}
