// Any table of the statistics.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useStatistics } from "./asked";
import { Answered, SubjectTable } from "./SubjectTable";

const subject = signal("service");

/** The table that is chosen. */
export function BySubject(): JSX.Element {
  const asked = useStatistics(() => subject.value);
  return (
    <div class="by-subject">
      <label class="chooser">
        By{" "}
        <select
          value={subject.value}
          onChange={(event) => {
            subject.value = event.currentTarget.value;
          }}
        >
          {SUBJECTS.map(({ name, about }) => (
            <option key={name} value={name}>
              {name}: {about}
            </option>
          ))}
        </select>
      </label>
      <div class="fill">
        <Answered asked={asked.value} empty="There is nothing of that in what is selected.">
          {(told) => (
            <SubjectTable
              key={told.subject}
              subject={told.subject}
              label={told.about}
              table={told.table}
              widths={WIDTHS}
            />
          )}
        </Answered>
      </div>
    </div>
  );
}

/** Those that have no place of their own. */
const SUBJECTS = [
  { name: "service", about: "those who are called, or emit" },
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
  { name: "switches", about: "switches of processes for each call" },
];

const WIDTHS = {
  member: "minmax(240px, 3fr)",
  service: "minmax(200px, 2fr)",
  interface: "minmax(240px, 2fr)",
  path: "minmax(240px, 2fr)",
  error: "minmax(240px, 2fr)",
  type: "80px",
};
