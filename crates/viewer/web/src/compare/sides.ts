// What is compared: the buses of one file with those of another.

import type { Recording } from "../model/recording";

/** One side of a comparison. */
export interface Side {
  readonly name: string;
  /** Places of its buses. */
  readonly buses: readonly number[];
}

/** A side that there is not. */
export const NO_SIDE: Side = { name: "", buses: [] };

/** What there is to compare: files, or, if there is one alone, its buses. */
export function sidesOf({ files, buses }: Pick<Recording, "files" | "buses">): Side[] {
  if (files.length < 2) {
    return buses.map(({ label }, place) => ({ name: label, buses: [place] }));
  }
  const names = shortNames(files);
  return names.map((name, file) => ({
    name,
    buses: buses.flatMap((bus, place) => (bus.file === file ? [place] : [])),
  }));
}

/** The last parts of paths, as many as tell them apart. */
export function shortNames(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split("/"));
  const longest = Math.max(...parts.map(({ length }) => length));
  for (let count = 1; count < longest; count++) {
    const names = parts.map((words) => words.slice(-count).join("/"));
    if (new Set(names).size === names.length) return names;
  }
  return [...paths];
}
