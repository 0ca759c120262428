// The state of the statistics view.

import { batch, signal } from "@preact/signals";
import type { TableData } from "../generated/protocol";
import type { Sort } from "../parts/table";
import type { Store } from "../state/store";

/** The tabs, by their names in the address of the page. */
export const TABS = [
  "frequencies",
  "durations",
  "sizes",
  "by",
  "figures",
  "time",
  "rules",
  "replies",
] as const;

export type TabName = (typeof TABS)[number];

/** The tables of the tab "Group by". */
export const SUBJECTS = [
  { name: "service", about: "called services and signal senders" },
  { name: "interface", about: "interfaces" },
  { name: "path", about: "objects" },
  { name: "member", about: "methods and signals" },
  { name: "sender", about: "sending connections" },
  { name: "process", about: "sending processes" },
  { name: "unit", about: "sending systemd units" },
  { name: "pair", about: "sender and recipient" },
  { name: "type", about: "calls, returns, errors, signals" },
  { name: "error", about: "error names" },
  { name: "bus", about: "buses" },
  { name: "dispatch", about: "time in the bus, by phase" },
  { name: "switches", about: "context switches of each call" },
] as const;

export type SubjectName = (typeof SUBJECTS)[number]["name"];

/** The column and direction by which a table is sorted. */
export interface SortKey {
  readonly key: string;
  readonly descending: boolean;
}

/** The state of the statistics view. It is kept while another view is shown. */
export class StatisticsState {
  readonly tab = signal<TabName>("frequencies");
  /** The selected table of the tab "Group by". */
  readonly subject = signal<SubjectName>("service");
  /** The sort order of the tab's table; undefined is the default. */
  readonly sortKey = signal<SortKey | undefined>(undefined);

  /** Selects a tab, with the default order of its table. */
  chooseTab(name: TabName): void {
    batch(() => {
      if (this.tab.value !== name) this.sortKey.value = undefined;
      this.tab.value = name;
    });
  }

  /** Selects a table, with its default order. */
  chooseSubject(name: string): void {
    batch(() => {
      this.sortKey.value = undefined;
      this.subject.value = SUBJECTS.find((one) => one.name === name)?.name ?? "service";
    });
  }

  /**
   * The sort order of a table and a function that changes it. The order is `first` if the table
   * does not have the selected column.
   */
  sorting(
    { columns }: TableData,
    first?: Sort,
  ): { readonly sort: Sort | undefined; readonly onSort: (sort: Sort) => void } {
    const chosen = this.sortKey.value;
    const column = columns.findIndex(({ key }) => key === chosen?.key);
    const isThere = chosen !== undefined && column >= 0;
    return {
      sort: isThere ? { column, descending: chosen.descending } : first,
      onSort: ({ column, descending }) => {
        this.sortKey.value = { key: columns[column]?.key ?? "", descending };
      },
    };
  }
}

/** The state of the statistics view of a store. */
export function statisticsState(store: Store): StatisticsState {
  return store.part(StatisticsState, () => new StatisticsState());
}
