// Who takes part in messages: in which order they appear, and in how many.

import { NONE, type Recording } from "../../model/recording";

/** Connections that take part in messages. */
export class Tally {
  /** In the order in which they appear first. */
  readonly appeared: number[] = [];
  /** Messages that each sends or is sent, by connection. */
  readonly messages: number[] = [];
  /** The row of the last message that counted for a connection: one to itself counts once. */
  private readonly last: number[] = [];

  /** Counts the messages at these places among rows. */
  count(recording: Recording, rows: Uint32Array, start: number): void {
    const { length } = recording;
    const from = recording.from.slice(0, length);
    const to = recording.to.slice(0, length);
    const ends = recording.recipientsEnd.slice(0, length);
    for (let place = start; place < rows.length; place++) {
      const row = rows[place] as number;
      this.add(from[row] as number, row);
      this.add(to[row] as number, row);
      const end = ends[row] as number;
      let copy = row === 0 ? 0 : (ends[row - 1] as number);
      for (; copy < end; copy++) this.add(recording.recipients.get(copy), row);
    }
  }

  private add(peer: number, row: number): void {
    if (peer === NONE || this.last[peer] === row) return;
    this.last[peer] = row;
    const messages = this.messages[peer];
    if (messages === undefined) this.appeared.push(peer);
    this.messages[peer] = (messages ?? 0) + 1;
  }
}
