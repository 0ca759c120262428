// Lines of text that come in pieces.

/** Puts lines together. */
export class LineReader {
  private readonly decoder = new TextDecoder();
  private rest = "";

  /** The lines that are whole now; empty ones are left out. */
  push(bytes: Uint8Array): readonly string[] {
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.rest = lines.pop() ?? "";
    return lines.filter((line) => line !== "");
  }
}
