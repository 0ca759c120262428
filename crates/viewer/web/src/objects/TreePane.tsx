// The objects of the selected service, as a tree.

import { useSignal } from "@preact/signals";
import type { CSSProperties, JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Tree } from "../generated/protocol";
import { count, counted, duration } from "../parts/format";
import { openMenu } from "../parts/Menu";
import { useVirtualRows } from "../parts/virtual";
import { oneLine } from "../parts/visibleText";
import { term } from "../query/terms";
import { useStore } from "../state/context";
import { isRunning } from "./names";
import {
  filteredLines,
  isCommon,
  seenLines,
  type TreeLine,
  type TreeStep,
  treeLines,
  treeStep,
} from "./objectTree";
import type { Session } from "./session";
import { trafficItems } from "./traffic";

interface TreePaneProps {
  readonly session: Session;
}

export function TreePane({ session }: TreePaneProps): JSX.Element {
  const { value, problem, isWaiting } = session.tree.state.value;
  const service = session.service.value;
  const names = session.names.state.value.value;
  const name = names?.find((one) => one.name === service);
  return (
    <section class="objects-tree" aria-label="Objects" aria-busy={isWaiting}>
      {service === undefined ? <p class="empty">Select a name to see its objects.</p> : null}
      {service !== undefined && names !== undefined && name === undefined ? (
        <p class="empty">The name {oneLine(service)} has no owner now.</p>
      ) : null}
      {name !== undefined && !isRunning(name) ? (
        <NotRunning key={name.name} name={name.name} session={session} />
      ) : null}
      {problem === undefined ? null : <p class="banner">{problem}</p>}
      {value === undefined && isWaiting ? <p class="empty">Loading…</p> : null}
      {value === undefined ? null : <Objects tree={value} session={session} />}
    </section>
  );
}

/** Shown for a service that is not running, because browsing does not start services. */
function NotRunning({ name, session }: TreePaneProps & { readonly name: string }): JSX.Element {
  const { bus } = useStore();
  const problem = useSignal<string | undefined>(undefined);
  const start = async (): Promise<void> => {
    problem.value = undefined;
    problem.value = await session.start(name);
  };
  return (
    <div class="objects-idle">
      <p>Not running. Browsing does not start it.</p>
      {bus.value === "call" ? (
        <button type="button" class="objects-button" onClick={() => void start()}>
          Start
        </button>
      ) : null}
      {problem.value === undefined ? null : <p class="banner">{problem.value}</p>}
    </div>
  );
}

function Objects({ tree, session }: TreePaneProps & { readonly tree: Tree }): JSX.Element {
  const filter = session.treeFilter.value;
  const folded = session.folded.value;
  const all = useMemo(() => treeLines(tree.nodes), [tree]);
  const lines = useMemo(
    () => (filter.trim() === "" ? seenLines(all, folded) : filteredLines(all, filter)),
    [all, filter, folded],
  );
  return (
    <>
      <div class="objects-tools">
        <input
          type="search"
          placeholder="Filter objects, interfaces"
          aria-label="Filter objects"
          value={filter}
          onInput={(event) => (session.treeFilter.value = event.currentTarget.value)}
        />
        <button
          type="button"
          title="Refresh (r)"
          aria-label="Refresh the objects"
          onClick={() => void session.refreshTree()}
        >
          ⟳
        </button>
      </div>
      <Lines tree={tree} lines={lines} session={session} />
      <p class="note">
        {counted(tree.nodes.length, "object", "objects")} in {duration(tree.took_ns)}
        {tree.left_out === 0 ? "" : `; ${count(tree.left_out)} more are not shown`}
      </p>
    </>
  );
}

interface TreeLinesProps extends TreePaneProps {
  readonly tree: Tree;
  readonly lines: readonly TreeLine[];
}

function Lines({ tree, lines, session }: TreeLinesProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualRows(scroller, lines.length, ROW_HEIGHT);
  const cursor = session.cursor.value;
  const steer = (event: KeyboardEvent): void => {
    const step = treeStep(lines, session.folded.value, cursor, event.key);
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    take(session, tree, step);
    if (step.act === "go") rows.scrollTo(lines.findIndex(({ node }) => node.path === step.path));
  };
  const at = lines.findIndex(({ node }) => node.path === cursor);
  return (
    <div
      class="objects-list"
      role="tree"
      aria-label={`Objects of ${tree.service}`}
      aria-activedescendant={at < 0 ? undefined : lineId(at)}
      tabIndex={0}
      ref={scroller}
      onKeyDown={steer}
    >
      <div class="objects-lines" style={{ height: `${rows.height}px` }}>
        {rows.items.map(({ index, start }) => {
          const line = lines[index];
          if (line === undefined) return null;
          const style = {
            transform: `translateY(${start}px)`,
            paddingLeft: `${line.depth * 14 + 4}px`,
          };
          return (
            <Line
              key={line.node.path}
              line={line}
              at={index}
              style={style}
              tree={tree}
              session={session}
            />
          );
        })}
      </div>
    </div>
  );
}

interface TreeLineProps extends TreePaneProps {
  readonly tree: Tree;
  readonly line: TreeLine;
  readonly at: number;
  readonly style: CSSProperties;
}

function Line({ line, at, style, tree, session }: TreeLineProps): JSX.Element {
  const store = useStore();
  const { node, isFoldable } = line;
  const { path } = node;
  const isOpen = !session.folded.value.has(path);
  const isCursor = session.cursor.value === path;
  const choose = (event: MouseEvent): void => {
    const isFold = event.target instanceof Element && event.target.matches(FOLD);
    if (isFold) fold(session, path, isOpen);
    else session.choosePlace({ service: tree.service, path });
  };
  const items = () => trafficItems(store, [term("name", tree.service), term("path", path)], path);
  return (
    <div
      id={lineId(at)}
      role="treeitem"
      class={`objects-line${line.isOwn ? "" : " idle"}${isCursor ? " cursor" : ""}`}
      aria-level={line.depth + 1}
      aria-selected={session.place.value?.path === path}
      aria-expanded={isFoldable ? isOpen : undefined}
      title={titleOf(line)}
      style={style}
      onClick={choose}
      onContextMenu={(event) => openMenu(store.page, event, items())}
    >
      <span class={isFoldable ? "objects-fold" : "objects-fold none"} />
      <span class="objects-line-text">{oneLine(line.label)}</span>
      {node.failure === undefined ? null : (
        <span class="objects-failure">{oneLine(node.failure.sentence, SENTENCE_MAX)}</span>
      )}
    </div>
  );
}

function take(session: Session, { service }: Tree, { act, path }: TreeStep): void {
  if (act === "go") session.cursor.value = path;
  else if (act === "open") session.choosePlace({ service, path });
  else fold(session, path, act === "fold");
}

function fold(session: Session, path: string, isFolded: boolean): void {
  const others = [...session.folded.peek()].filter((other) => other !== path);
  session.folded.value = new Set(isFolded ? [...others, path] : others);
}

function titleOf({ node }: TreeLine): string {
  const own = node.interfaces?.filter((name) => !isCommon(name)) ?? [];
  const texts = node.failure === undefined ? own : [node.failure.sentence];
  return [node.path, ...texts].map((text) => oneLine(text, SENTENCE_MAX)).join("\n");
}

function lineId(at: number): string {
  return `object-line-${at}`;
}

const ROW_HEIGHT = 24;
const FOLD = ".objects-fold:not(.none)";
const SENTENCE_MAX = 300;
