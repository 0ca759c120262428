// Which finding is looked at, and which are shown, in the address of the page.

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
      // What a finding is about may be empty; its rule never is.
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
