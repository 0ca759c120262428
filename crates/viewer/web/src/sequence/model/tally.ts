// Counts the messages of each connection, in the order in which the connections appear.

import { NONE, type Recording } from "../../model/recording";

/** The connections that send or receive messages. */
export class Tally {
  /** Connections in the order in which they first appear. */
  readonly appeared: number[] = [];
  /** Number of messages that each connection sends or receives. */
  readonly messages: number[] = [];
  /** The row of the last counted message of a connection. A message to itself counts once. */
  private readonly last: number[] = [];

  /** Counts the messages at these positions. */
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
