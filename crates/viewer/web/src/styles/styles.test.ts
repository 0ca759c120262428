// Classes are global: two parts that use the same name interfere with each other.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

test("each class is styled in one file", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".css"));
  const places = new Map<string, Set<string>>();
  for (const file of files) {
    for (const name of classesOf(readFileSync(join(import.meta.dirname, file), "utf8"))) {
      places.set(name, (places.get(name) ?? new Set()).add(file));
    }
  }
  expect(places.size).toBeGreaterThan(100);
  const shared = [...places].filter(([, where]) => where.size > 1);
  expect(shared.map(([name, where]) => `${name}: ${[...where].join(", ")}`)).toEqual([]);
});

/** The classes that have their own rules outside of media queries. */
function classesOf(css: string): string[] {
  const rules = css.replace(/\/\*.*?\*\//gs, "").matchAll(/^([^\s@{}][^{}]*)\{/gm);
  const selectors = [...rules].flatMap(([, selector]) => (selector ?? "").split(","));
  return selectors.map((selector) => selector.trim()).filter((name) => /^\.[\w-]+$/.test(name));
}
