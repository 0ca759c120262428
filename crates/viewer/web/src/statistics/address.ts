// What is looked at of the statistics, in the address of the page.

import { choiceInAddress, together } from "../state/choice";
import type { AddressPart } from "../state/url";
import { SUBJECTS, type SubjectName, sortKey, subject, TABS, tab } from "./chosen";

/** Sorted by the largest first has a minus in front. */
const sort: AddressPart = {
  write(fields) {
    const chosen = sortKey.value;
    if (chosen !== undefined) fields.set("sort", `${chosen.descending ? "-" : ""}${chosen.key}`);
  },
  read(fields) {
    const text = fields.get("sort") ?? "";
    const key = text.replace(/^-/, "");
    sortKey.value = key === "" ? undefined : { key, descending: key !== text };
  },
};

const [first, ...others] = SUBJECTS;
const subjects: [SubjectName, ...SubjectName[]] = [first.name, ...others.map(({ name }) => name)];

export const statisticsAddress = together([
  choiceInAddress("tab", tab, TABS),
  choiceInAddress("by", subject, subjects),
  sort,
]);
