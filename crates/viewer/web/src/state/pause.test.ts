import { expect, test } from "vitest";
import type { Frame } from "../format/frame";
import { type FrameHead, type Question, VERSION } from "../generated/protocol";
import { messagesFrame } from "../model/testing";
import { type Answered, answered, Disconnected, type Source } from "../source/source";
import { Store } from "./store";

/** A source whose frames the test provides one by one. */
class ManualSource implements Source {
  readonly asked: Question[] = [];
  private readonly given: Frame[] = [];
  private wake: (() => void) | undefined;
  private isOver = false;
  isGone = false;

  give(head: FrameHead): void {
    this.push({ head, columns: new Map() });
  }

  push(frame: Frame): void {
    this.given.push(frame);
    this.wake?.();
  }

  end(): void {
    this.isOver = true;
    this.wake?.();
  }

  async *frames(): AsyncGenerator<Frame> {
    for (;;) {
      const frame = this.given.shift();
      if (frame !== undefined) yield frame;
      else if (this.isOver) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async ask<Q extends Question>(question: Q): Promise<Answered<Q["ask"]>> {
    this.asked.push(question);
    if (this.isGone) throw new Disconnected();
    const answer = { select: { count: 0, total: 0, note: null, recorder: null } };
    return answered({ head: { kind: "answer", answer }, columns: new Map() }, question.ask);
  }
}

const NO_BUS = { program: "", objects: false, calls: false };

function live(): { readonly source: ManualSource; readonly store: Store } {
  const source = new ManualSource();
  const store = new Store(source);
  void store.load();
  source.give({ kind: "hello", version: VERSION, title: "session", mode: "live", ...NO_BUS });
  source.give({ kind: "missing", overrun: 0, disconnected: 0 });
  return { source, store };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

test("messages that arrive during a pause are displayed when it ends", async () => {
  const { source, store } = live();
  await settled();
  store.togglePause();
  source.give({ kind: "missing", overrun: 7, disconnected: 0 });
  await settled();
  expect(store.missing.value.overrun).toBe(0);
  expect(store.selection.value.until).toBe(store.recording.value.end + 1);
  store.togglePause();
  expect(store.missing.value.overrun).toBe(7);
  expect(store.selection.value.until).toBe(undefined);
});

test("held messages are counted once, even if the oldest are dropped", async () => {
  const { source, store } = live();
  await settled();
  store.togglePause();
  source.push(messagesFrame(30, { first: 0 }, {}));
  await settled();
  expect(store.held.value).toBe(30);
  source.give({ kind: "reset", before: 20 });
  source.push(messagesFrame(15, { first: 0 }, {}));
  await settled();
  expect(store.held.value).toBe(35);
});

test("a stopped program is not reported as a failed question", async () => {
  const { source, store } = live();
  await settled();
  source.isGone = true;
  await expect(store.ask({ ask: "findings" })).rejects.toThrow("has stopped");
  expect(store.progress.value.state).toBe("disconnected");
});

test("a stream without an end frame means that the program stopped", async () => {
  const { source, store } = live();
  source.end();
  await settled();
  expect(store.progress.value.state).toBe("disconnected");
});
