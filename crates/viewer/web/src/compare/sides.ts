// The sides of a comparison, each of which is the buses of a file.

import type { Recording } from "../model/recording";

/** One side of a comparison. */
export interface Side {
  readonly name: string;
  /** The indices of its buses. */
  readonly buses: readonly number[];
}

/** Stands for a missing side. */
export const NO_SIDE: Side = { name: "", buses: [] };

/** The possible sides: the opened files, or the buses of the file if there is only one. */
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

/** The shortest suffixes of paths that are distinct. */
export function shortNames(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split("/"));
  const longest = Math.max(...parts.map(({ length }) => length));
  for (let count = 1; count < longest; count++) {
    const names = parts.map((words) => words.slice(-count).join("/"));
    if (new Set(names).size === names.length) return names;
  }
  return [...paths];
}
