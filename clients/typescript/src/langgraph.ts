/**
 * A LangGraph.js store whose search is a recall under a policy:
 *
 *     const store = new RetentiveStore("http://127.0.0.1:7677", { key, policy: "retentive" });
 *     const agent = createReactAgent({ llm, tools, store });
 *
 * A namespace is a space, label by label; an item is a memory: its key the id, its value the metadata, its readable text
 * what is searched. Written so, an item is the same for the Python package's `RetentiveStore`.
 */
import {
  BaseStore,
  InvalidNamespaceError,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  getTextAtPath,
} from "@langchain/langgraph-checkpoint";

import { RetentiveError } from "./errors.js";
import { isMapping, matches, split } from "./filters.js";
import { Retentive, type Memory, type Options, type Space } from "./index.js";
import { pathOf, namespaceOf } from "./namespaces.js";

const MARK = "$langgraph";
const CONTENT = "content";
const UNNAMED = new Set([CONTENT, "text", "memory", "data", "value", "page_content"]);
const MOST = 1_000; // hits looked through for a filter that the server's index cannot answer

type Value = Record<string, unknown>;

export interface StoreOptions extends Options {
  /** The policy of searches: a preset's name. Left out: the space's own, else the server's. */
  policy?: string | undefined;
  /** Paths of a value that are searched; left out: all its text. */
  fields?: string[] | undefined;
  /** A space path above all namespaces. */
  root?: string | undefined;
}

export class RetentiveStore extends BaseStore {
  readonly memories: Retentive;
  readonly #policy: string | undefined;
  readonly #fields: string[] | undefined;
  readonly #root: string[];

  constructor(memories: Retentive | string | URL, options: StoreOptions = {}) {
    super();
    const { policy, fields, root, ...rest } = options;
    this.memories = memories instanceof Retentive ? memories : new Retentive(memories, rest);
    this.#policy = policy;
    this.#fields = fields;
    this.#root = root ? root.split("/") : [];
  }

  /** Answers all reads from what was there before, then writes; of several writes of one key the last counts. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const answers = await Promise.all(operations.map((operation) => {
      if (!isPut(operation)) return this.#answer(operation as GetOperation | SearchOperation | ListNamespacesOperation);
      checkNamespace(operation.namespace);
      puts.set(JSON.stringify([operation.namespace, operation.key]), operation);
      return undefined;
    }));
    for (const put of puts.values()) await this.#put(put);
    return answers as OperationResults<Op>;
  }

  #answer(operation: GetOperation | SearchOperation | ListNamespacesOperation): Promise<unknown> {
    if ("key" in operation) return this.#get(operation);
    return "namespacePrefix" in operation ? this.#search(operation) : this.#namespaces(operation);
  }

  #space(namespace: readonly string[]): Space {
    return this.memories.space(pathOf(namespace, this.#root));
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    try {
      const memory = await this.#space(namespace).get(key);
      return shown(memory) ? this.#item(memory) : null;
    } catch (error) {
      if (error instanceof RetentiveError && error.status === 404) return null;
      throw error;
    }
  }

  #item(memory: Memory): Item {
    return {
      namespace: namespaceOf(memory.space, this.#root) ?? [],
      key: memory.id,
      value: valueOf(memory),
      createdAt: new Date(memory.created_at),
      updatedAt: new Date(memory.updated_at ?? memory.created_at),
    };
  }

  async #search({ namespacePrefix, filter = {}, limit = 10, offset = 0, query }: SearchOperation): Promise<SearchItem[]> {
    if (limit < 1) return [];
    const spaces = await this.#below(namespacePrefix);
    const found = await Promise.all(spaces.map((space) => (query?.trim() ? this.#recalled(space, query, filter, limit + offset) : this.#listed(space, filter, limit + offset))));
    const order = query?.trim() ? (one: SearchItem, other: SearchItem) => (other.score ?? 0) - (one.score ?? 0)
      : (one: SearchItem, other: SearchItem) => other.createdAt.getTime() - one.createdAt.getTime();
    return found.flat().sort(order).slice(offset, offset + limit);
  }

  async #recalled(space: Space, cue: string, filter: Value, wanted: number): Promise<SearchItem[]> {
    const [plain, rest] = split(filter);
    const limit = Object.keys(rest).length ? MOST : Math.min(wanted, MOST);
    const question = { cue, limit, where: indexed(plain), ...(this.#policy ? { policy: this.#policy } : {}) };
    const { hits } = await space.recall(question as Parameters<Space["recall"]>[0]);
    return hits.filter((hit) => matches(valueOf(hit.memory), rest)).slice(0, wanted).map((hit) => ({ ...this.#item(hit.memory), score: hit.score ?? 0 }));
  }

  async #listed(space: Space, filter: Value, wanted: number): Promise<SearchItem[]> {
    const [plain, rest] = split(filter);
    const found: SearchItem[] = [];
    const where = Object.keys(plain).length ? { where: JSON.stringify(indexed(plain)) } : {};
    for await (const memory of space.list({ hidden: true, limit: Math.min(MOST, Math.max(wanted, 50)), ...where } as Parameters<Space["list"]>[0])) {
      if (shown(memory) && matches(valueOf(memory), rest)) found.push(this.#item(memory));
      if (found.length >= wanted) break;
    }
    return found;
  }

  async #below(prefix: readonly string[]): Promise<Space[]> {
    const found: Space[] = [];
    for await (const path of this.memories.spaces()) {
      const namespace = namespaceOf(path, this.#root);
      if (namespace && prefix.every((label, at) => namespace[at] === label)) found.push(this.memories.space(path));
    }
    return found;
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    const space = this.#space(namespace);
    if (value === null) return absentIsFine(space.forget(key, { erase: true, reason: "deleted from the LangGraph store" }));
    const text = index === false ? "" : textOf(value, index ?? this.#fields);
    const searched = Boolean(text.trim());
    const entries = Object.entries(value).map(([name, entry]) => [escaped(name), entry] as const);
    const metadata = { ...Object.fromEntries(entries), [MARK]: searched ? {} : { indexed: false } };
    const body = { text: searched ? text : `item ${key}`, metadata };
    try {
      await space.update(key, { ...body, reason: "put again" } as Parameters<Space["update"]>[1]);
    } catch (error) {
      if (!(error instanceof RetentiveError) || error.status !== 404) throw error;
      await space.remember({ id: key, ...body } as Parameters<Space["remember"]>[0]);
    }
    if (!searched) await space.forget(key, { reason: "index of the LangGraph store" });
  }

  async #namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const found = new Map<string, string[]>();
    for await (const path of this.memories.spaces()) {
      const namespace = namespaceOf(path, this.#root);
      if (!namespace || !matchConditions.every((condition) => fits(namespace, condition))) continue;
      const cut = maxDepth === undefined ? namespace : namespace.slice(0, maxDepth);
      found.set(JSON.stringify(cut), cut);
    }
    const sorted = [...found.values()].sort((one, other) => (one.join("\0") < other.join("\0") ? -1 : 1));
    return sorted.slice(offset, offset + limit);
  }
}

const isPut = (operation: Operation): operation is PutOperation => "value" in operation;

async function absentIsFine(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RetentiveError) || error.status !== 404) throw error;
  }
}

function checkNamespace(namespace: readonly string[]): void {
  if (!namespace.length) throw new InvalidNamespaceError("A namespace cannot be empty.");
  for (const label of namespace) {
    if (typeof label !== "string" || !label || label.includes(".")) throw new InvalidNamespaceError(`${JSON.stringify(label)} is no label: a string, not empty, without periods.`);
  }
  if (namespace[0] === "langgraph") throw new InvalidNamespaceError('The first label cannot be "langgraph".');
}

function fits(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (namespace.length < path.length) return false;
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, at) => label === "*" || namespace[start + at] === label);
}

const escaped = (name: string): string => (name.startsWith("$") ? `$${name}` : name);
const indexed = (plain: Value): Value => Object.fromEntries(Object.entries(plain).map(([name, value]) => [escaped(name), value]));

function mark(memory: Memory): Value | undefined {
  const found = (memory.metadata as Value)[MARK];
  return isMapping(found) ? found : undefined;
}

/** Neither expired, replaced nor forgotten; what is not indexed is hidden from recall and shown here. */
function shown(memory: Memory): boolean {
  const expired = memory.valid_until !== null && memory.valid_until !== undefined && Date.parse(memory.valid_until) <= Date.now();
  const hidden = Boolean(memory.suppressed_at) && mark(memory)?.["indexed"] !== false;
  return !expired && !memory.superseded_at && !hidden;
}

function valueOf(memory: Memory): Value {
  const entries = Object.entries(memory.metadata as Value).filter(([name]) => name !== MARK);
  if (!mark(memory)) return { ...Object.fromEntries(entries), [CONTENT]: memory.text };
  return Object.fromEntries(entries.map(([name, entry]) => [name.startsWith("$") ? name.slice(1) : name, entry]));
}

function textOf(value: Value, paths: readonly string[] | undefined): string {
  if (!paths) return [...lines(value, "")].join("\n");
  return paths.flatMap((path) => getTextAtPath(value, path)).join("\n");
}

/** What a person would read: the words themselves, other entries behind their names. */
function* lines(value: unknown, name: string): Generator<string> {
  if (isMapping(value)) {
    const wrapped = Object.keys(value).sort().join() === "content,kind" && isMapping(value[CONTENT]);
    for (const [label, entry] of Object.entries(wrapped ? { [CONTENT]: value[CONTENT] } : value)) yield* lines(entry, label);
  } else if (Array.isArray(value)) {
    for (const entry of value) yield* lines(entry, name);
  } else if (value !== null && value !== undefined && String(value).trim()) {
    yield UNNAMED.has(name) || !name ? said(value) : `${name}: ${said(value)}`;
  }
}

const said = (value: unknown): string => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));
