/**
 * Retentive from TypeScript: what is worth bringing up now, and why.
 *
 *     const memories = new Retentive("http://127.0.0.1:7677", { key });
 *     const alice = memories.space("acme/alice");
 *     await alice.remember({ text: "Prefers Postgres", kind: "preference" });
 *     const recall = await alice.recall({ cue: "Which database?" });
 */
import { Transport, type Answer, type Asked, type Body, type Name, type Options, type Query } from "./transport.js";

export { RetentiveError } from "./errors.js";
export type { components, operations, paths } from "./schema.js";
export type { Answer, Asked, Body, Name, Options, Path, Query } from "./transport.js";

export type Memory = Answer<"get">;
export type Recall = Answer<"recall">;
export type Draft = Body<"remember">;
export type Question = Body<"recall">;

type Write = { once?: string; signal?: AbortSignal };
type Change = Write & { version?: string };

/** A server of memories. */
export class Retentive {
  readonly transport: Transport;

  constructor(address: string | URL = "http://127.0.0.1:7677", options: Options = {}) {
    this.transport = new Transport(address, options);
  }

  /** One tenant's memories, by exact path: the only way to any of them. */
  space(path: string | readonly string[]): Space {
    return new Space(this.transport, typeof path === "string" ? path : path.join("/"));
  }

  /** The spaces that the key reaches, page by page as they are taken. */
  async *spaces(): AsyncGenerator<string> {
    let cursor: string | undefined;
    do {
      const page = await this.transport.ask("list_spaces", { query: { limit: 1_000, ...(cursor ? { cursor } : {}) } });
      yield* page.spaces;
      cursor = page.cursor ?? undefined;
    } while (cursor);
  }

  /** Any operation of the server by its name, typed by its OpenAPI document. */
  ask<N extends Name>(name: N, asked: Asked<N> = {}): Promise<Answer<N>> {
    return this.transport.ask(name, asked);
  }

  async about(): Promise<Answer<"about">> {
    return this.transport.ask("about");
  }
}

/** One tenant's memories on a server. */
export class Space {
  constructor(readonly transport: Transport, readonly path: string) {}

  remember(draft: string | Draft, more: Write = {}): Promise<Memory> {
    const body: Draft = typeof draft === "string" ? { text: draft } : draft;
    return this.transport.ask("remember", { path: { space: this.path }, body, ...more });
  }

  async rememberMany(drafts: readonly (string | Draft)[], more: Write = {}): Promise<Memory[]> {
    const memories = drafts.map((draft) => (typeof draft === "string" ? { text: draft } : draft));
    const kept = await this.transport.ask("remember_many", { path: { space: this.path }, body: { memories }, ...more });
    return kept.memories;
  }

  recall(question: string | Question, more: { signal?: AbortSignal } = {}): Promise<Recall> {
    const body: Question = typeof question === "string" ? { cue: question } : question;
    return this.transport.ask("recall", { path: { space: this.path }, body, ...more });
  }

  async feedback(told: Body<"feedback">, more: Write = {}): Promise<void> {
    await this.transport.ask("feedback", { path: { space: this.path }, body: told, ...more });
  }

  get(id: string, more: { touch?: boolean; signal?: AbortSignal } = {}): Promise<Memory> {
    const { touch, ...rest } = more;
    return this.transport.ask("get", { path: { space: this.path, id }, query: touch === undefined ? {} : { touch }, ...rest });
  }

  /** Memories, newest first, page by page as they are taken. */
  async *list(query: Omit<NonNullable<Query<"list_memories">>, "cursor"> = {}): AsyncGenerator<Memory> {
    let cursor: string | undefined;
    do {
      const page = await this.transport.ask("list_memories", { path: { space: this.path }, query: { ...query, ...(cursor ? { cursor } : {}) } });
      yield* page.memories as Memory[];
      cursor = page.cursor ?? undefined;
    } while (cursor);
  }

  update(id: string, changes: Body<"update">, more: Change = {}): Promise<Memory> {
    return this.transport.ask("update", { path: { space: this.path, id }, body: changes, ...more });
  }

  async forget(id: string, more: Change & { erase?: boolean; reason?: string } = {}): Promise<void> {
    const { erase, reason, ...rest } = more;
    const query = { ...(erase === undefined ? {} : { erase }), ...(reason === undefined ? {} : { reason }) };
    await this.transport.ask("forget", { path: { space: this.path, id }, query, ...rest });
  }

  observe(conversation: Body<"observe">, more: Write = {}): Promise<Answer<"observe">> {
    return this.transport.ask("observe", { path: { space: this.path }, body: conversation, ...more });
  }

  whyNot(id: string, question: Body<"why_not">): Promise<Answer<"why_not">> {
    return this.transport.ask("why_not", { path: { space: this.path, id }, body: question });
  }

  reflect(how: Body<"reflect"> = {}): Promise<Answer<"reflect">> {
    return this.transport.ask("reflect", { path: { space: this.path }, body: how });
  }

  /** Everything in the space as JSON lines, as it comes. */
  async export(): Promise<ReadableStream<Uint8Array>> {
    const response = await this.transport.send("GET", `/v1/spaces/${encodeURIComponent(this.path)}/export`);
    if (!response.body) throw new TypeError("The answer has no body.");
    return response.body;
  }

  async import(lines: string): Promise<{ added: number }> {
    const path = `/v1/spaces/${encodeURIComponent(this.path)}/import`;
    const response = await this.transport.send("POST", path, { body: lines, type: "application/x-ndjson" });
    return (await response.json()) as { added: number };
  }
}
