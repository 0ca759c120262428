import { expect, test } from "vitest";
import { type AddressPlace, formatPlace, parsePlace } from "./url";

const FIRST: AddressPlace = {
  view: "sequence",
  comparison: { tab: "differences", alignment: "start" },
  query: "",
  hidden: [],
  span: undefined,
  message: undefined,
};

const SEQUENCES = { tab: "sequences", alignment: "start" } as const;

test.each<[string, Partial<AddressPlace>]>([
  ["", {}],
  ["#view=statistics", { view: "statistics" }],
  ["#view=compare&compare=sequences", { view: "compare", comparison: SEQUENCES }],
  ["#align=clock", { comparison: { tab: "differences", alignment: "clock" } }],
  ["#q=member%3AGet*+dur%3E50ms", { query: "member:Get* dur>50ms" }],
  ["#hide=%3A1.5%2C1%2F%3A1.7", { hidden: [":1.5", "1/:1.7"] }],
  ["#span=1000-2000", { span: { from: 1000, until: 2000 } }],
  ["#message=12", { message: 12 }],
])("%s is an address and back", (hash, differs) => {
  const place = { ...FIRST, ...differs };
  expect(parsePlace(hash)).toEqual(place);
  expect(formatPlace(place)).toBe(hash);
});

test.each([
  "#view=color",
  "#span=9-3",
  "#span=x-y",
  "#span=1-2-3",
  "#message=-1",
  "#message=1.5",
  "#other=1",
  "#compare=x&align=y",
])("%s says nothing", (hash) => {
  expect(parsePlace(hash)).toEqual(FIRST);
});
