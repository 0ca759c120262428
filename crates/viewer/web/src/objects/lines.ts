// Splits a stream of bytes into lines.

/** Assembles lines from chunks of bytes. */
export class LineReader {
  private readonly decoder = new TextDecoder();
  private rest = "";

  /** Appends a chunk and returns the lines that are complete now, without empty lines. */
  push(bytes: Uint8Array): readonly string[] {
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.rest = lines.pop() ?? "";
    return lines.filter((line) => line !== "");
  }
}
