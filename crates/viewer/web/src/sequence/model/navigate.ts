// Navigation from one message to another.

import { Kind, NONE, type Recording } from "../../model/recording";
import { lineOf } from "./runs";
import { placeOf, rowOfLine, type Scene } from "./scene";

/** A step of the navigation from a message. */
export type NavigationStep =
  | "next"
  | "previous"
  | "call"
  | "reply"
  | "partner"
  | "next-like"
  | "previous-like";

/** The message that a step leads to; undefined if there is none. */
export function stepFrom(scene: Scene, row: number, step: NavigationStep): number | undefined {
  const { recording } = scene;
  switch (step) {
    case "next":
      return neighbor(scene, row, 1);
    case "previous":
      return neighbor(scene, row, -1);
    case "call":
      return recording.kind.get(row) === Kind.Call ? undefined : known(recording.partnerOf(row));
    case "reply":
      return recording.kind.get(row) === Kind.Call ? known(recording.partnerOf(row)) : undefined;
    case "partner":
      return known(recording.partnerOf(row));
    case "next-like":
      return like(scene, row, 1);
    case "previous-like":
      return like(scene, row, -1);
  }
}

function known(row: number): number | undefined {
  return row === NONE ? undefined : row;
}

/** The message of the line below or above. */
function neighbor(scene: Scene, row: number, by: number): number | undefined {
  const place = placeOf(scene, row);
  if (place === undefined) return undefined;
  for (let line = lineOf(scene.lines, place) + by; line >= 0; line += by) {
    if (line >= scene.lines.count) return undefined;
    const row = rowOfLine(scene, line);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** The next message of the same type and member. */
function like(scene: Scene, row: number, by: number): number | undefined {
  const { recording, rows } = scene;
  const start = placeOf(scene, row);
  if (start === undefined) return undefined;
  for (let place = start + by; place >= 0 && place < rows.length; place += by) {
    const other = rows[place] as number;
    if (isLike(recording, row, other)) return other;
  }
  return undefined;
}

function isLike(recording: Recording, one: number, other: number): boolean {
  if (recording.kind.get(one) !== recording.kind.get(other)) return false;
  const subject = recording.subjectOf(one);
  const otherSubject = recording.subjectOf(other);
  return (
    recording.member.get(subject) === recording.member.get(otherSubject) &&
    recording.interface.get(subject) === recording.interface.get(otherSubject)
  );
}
