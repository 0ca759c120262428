// The part of the page's address that belongs to the statistics view.

import { choiceInAddress, together } from "../state/choice";
import type { AddressPart } from "../state/url";
import { type StatisticsState, SUBJECTS, type SubjectName, TABS } from "./state";

/** The key of the sort column. A minus sign in front means descending order. */
function sortPart({ sortKey }: StatisticsState): AddressPart {
  return {
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
}

const [first, ...others] = SUBJECTS;
const subjects: [SubjectName, ...SubjectName[]] = [first.name, ...others.map(({ name }) => name)];

export function statisticsAddress(state: StatisticsState): AddressPart {
  return together([
    choiceInAddress("tab", state.tab, TABS),
    choiceInAddress("by", state.subject, subjects),
    sortPart(state),
  ]);
}
