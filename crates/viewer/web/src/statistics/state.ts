// The tabs and tables of the statistics, and which of them are shown.

import { batch, signal } from "@preact/signals";
import type { TableData } from "../generated/protocol";
import type { Sort } from "../parts/table";
import type { Store } from "../state/store";

/** The tabs, by the names that the address of the page has. */
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

/** What tables there are that have no tab of their own. */
export const SUBJECTS = [
  { name: "service", about: "services that are called, or emit" },
  { name: "interface", about: "interfaces" },
  { name: "path", about: "objects" },
  { name: "member", about: "methods and signals" },
  { name: "sender", about: "connections that send" },
  { name: "process", about: "processes that send" },
  { name: "unit", about: "systemd units that send" },
  { name: "pair", about: "sender with recipient" },
  { name: "type", about: "calls, returns, errors, signals" },
  { name: "error", about: "names of errors" },
  { name: "bus", about: "buses" },
  { name: "dispatch", about: "time in the bus, by phase" },
  { name: "switches", about: "context switches of each call" },
] as const;

export type SubjectName = (typeof SUBJECTS)[number]["name"];

/** By which column a table is sorted. */
export interface SortKey {
  readonly key: string;
  readonly descending: boolean;
}

/** What is looked at in the statistics. It stays while other views are shown. */
export class StatisticsState {
  readonly tab = signal<TabName>("frequencies");
  /** The table of the tab that has several. */
  readonly subject = signal<SubjectName>("service");
  /** How the table of the tab is sorted; undefined is the default. */
  readonly sortKey = signal<SortKey | undefined>(undefined);

  /** Shows another tab, with the default order of its table. */
  chooseTab(name: TabName): void {
    batch(() => {
      if (this.tab.value !== name) this.sortKey.value = undefined;
      this.tab.value = name;
    });
  }

  /** Shows another table. */
  chooseSubject(name: string): void {
    batch(() => {
      this.sortKey.value = undefined;
      this.subject.value = SUBJECTS.find((one) => one.name === name)?.name ?? "service";
    });
  }

  /** How a table is sorted, and what sorts it otherwise; as `first` says if it has no such column. */
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

/** What is looked at in the statistics of this store. */
export function statisticsState(store: Store): StatisticsState {
  return store.part(StatisticsState, () => new StatisticsState());
}
