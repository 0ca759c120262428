// A selectable table of the statistics.

import type { JSX } from "preact";
import { useStore } from "../state/context";
import { useStatistics } from "./queries";
import { AnswerView, SubjectTable } from "./SubjectTable";
import { SUBJECTS, statisticsState } from "./state";

/** The table that the user selected. */
export function BySubject(): JSX.Element {
  const state = statisticsState(useStore());
  const { subject } = state;
  const request = useStatistics(() => subject.value);
  return (
    <div class="by-subject">
      <label class="chooser">
        Group by{" "}
        <select
          value={subject.value}
          onChange={(event) => state.chooseSubject(event.currentTarget.value)}
        >
          {SUBJECTS.map(({ name, about }) => (
            <option key={name} value={name}>
              {name}: {about}
            </option>
          ))}
        </select>
      </label>
      <div class="fill">
        <AnswerView request={request.value} empty="No messages are selected.">
          {(answer) => (
            <SubjectTable
              key={answer.subject}
              subject={answer.subject}
              label={answer.about}
              table={answer.table}
              widths={WIDTHS}
            />
          )}
        </AnswerView>
      </div>
    </div>
  );
}

const WIDTHS = {
  member: "minmax(240px, 3fr)",
  service: "minmax(200px, 2fr)",
  interface: "minmax(240px, 2fr)",
  path: "minmax(240px, 2fr)",
  error: "minmax(240px, 2fr)",
  type: "80px",
};
