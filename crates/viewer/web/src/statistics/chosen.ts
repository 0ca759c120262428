// What is looked at of the statistics. It stays while other views are shown.

import { batch, signal } from "@preact/signals";
import type { TableData } from "../generated/protocol";
import type { Sort } from "../parts/table";

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

export const tab = signal<TabName>("frequencies");
/** The table of the tab that has any. */
export const subject = signal<SubjectName>("service");
/** How the table of the tab is sorted; undefined is as at first. */
export const sortKey = signal<SortKey | undefined>(undefined);

/** Shows another tab, with its table as it is at first. */
export function chooseTab(name: TabName): void {
  batch(() => {
    if (tab.value !== name) sortKey.value = undefined;
    tab.value = name;
  });
}

/** Shows another table. */
export function chooseSubject(name: string): void {
  batch(() => {
    sortKey.value = undefined;
    subject.value = SUBJECTS.find((one) => one.name === name)?.name ?? "service";
  });
}

/** How a table is sorted, and what sorts it otherwise; as `first` says if it has no such column. */
export function sorting(
  { columns }: TableData,
  first?: Sort,
): { readonly sort: Sort | undefined; readonly onSort: (sort: Sort) => void } {
  const chosen = sortKey.value;
  const column = columns.findIndex(({ key }) => key === chosen?.key);
  const isThere = chosen !== undefined && column >= 0;
  return {
    sort: isThere ? { column, descending: chosen.descending } : first,
    onSort: ({ column, descending }) => {
      sortKey.value = { key: columns[column]?.key ?? "", descending };
    },
  };
}
