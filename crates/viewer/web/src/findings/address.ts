// The parts of the page's address for the selected finding and the filters of findings.

import { choiceInAddress, together } from "../state/choice";
import type { Store } from "../state/store";
import type { AddressPart } from "../state/url";
import { GROUPINGS, SEVERITIES } from "./model";
import { reporterOf } from "./report";

export function findingsAddress(store: Store): AddressPart {
  const { open, filter, grouping } = reporterOf(store);
  const finding: AddressPart = {
    write(fields) {
      const opened = open.value;
      if (opened === undefined) return;
      // The subject of a finding can be empty, but its rule cannot.
      for (const part of [opened.rule, opened.who.label, opened.subject]) {
        fields.append("finding", part);
      }
    },
    read(fields) {
      const [rule = "", label, subject] = fields.getAll("finding");
      const isOne = label !== undefined && subject !== undefined;
      open.value = isOne ? { rule, who: { label }, subject } : undefined;
    },
  };
  const shown: AddressPart = {
    write(fields) {
      const { rule, who, without } = filter.value;
      if (rule !== undefined) fields.set("rule", rule);
      if (who !== undefined) fields.set("who", who);
      for (const severity of without) fields.append("without", severity);
    },
    read(fields) {
      const left = new Set(fields.getAll("without"));
      filter.value = {
        rule: fields.get("rule") ?? undefined,
        who: fields.get("who") ?? undefined,
        without: new Set(SEVERITIES.filter((severity) => left.has(severity))),
      };
    },
  };
  return together([finding, shown, choiceInAddress("group", grouping, GROUPINGS)]);
}
