import { RetentiveError } from "./errors.js";
import { routes } from "./routes.js";
import type { operations } from "./schema.js";

/** The operations that are asked with JSON and answered with JSON; files go by `exportLines` and `importLines`. */
export type Name = Exclude<keyof typeof routes & keyof operations, "export" | "import">;

type Of<T, K extends string> = T extends { [key in K]?: infer V } ? V : never;
export type Path<N extends Name> = Of<operations[N]["parameters"], "path">;
export type Query<N extends Name> = Of<operations[N]["parameters"], "query">;
export type Body<N extends Name> = operations[N] extends { requestBody?: infer R }
  ? NonNullable<R> extends { content: { "application/json": infer B } } ? B : never
  : never;
type Success<R> = R extends { 200: { content: { "application/json": infer A } } } ? A
  : R extends { 201: { content: { "application/json": infer A } } } ? A
  : undefined;
export type Answer<N extends Name> = Success<operations[N]["responses"]>;

export interface Asked<N extends Name> {
  path?: Path<N>;
  query?: Query<N>;
  body?: Body<N>;
  /** A write with the same key happens once, however often it is sent; one is made up where none is given. */
  once?: string;
  /** The version (`memory.version`) that a change may be made to; anything newer is refused. */
  version?: string;
  signal?: AbortSignal;
}

export interface Options {
  /** A key made by `retentive keys create`; a server on this machine without keys needs none. */
  key?: string | undefined;
  /** How often a request is sent again when the server is busy or the connection breaks. */
  retries?: number | undefined;
  /** Milliseconds for one try. */
  timeout?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

const AGAIN = new Set([429, 502, 503, 504]);
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/** Asks one server. Reads are repeated freely; writes carry an idempotency key, so they may be as well. */
export class Transport {
  readonly address: string;
  readonly #options: { key: string | undefined; retries: number; timeout: number; fetch: typeof globalThis.fetch };

  constructor(address: string | URL, options: Options = {}) {
    this.address = String(address).replace(/\/+$/, "");
    this.#options = {
      key: options.key,
      retries: options.retries ?? 3,
      timeout: options.timeout ?? 60_000,
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    };
  }

  async ask<N extends Name>(name: N, asked: Asked<N> = {}): Promise<Answer<N>> {
    const [method, template] = routes[name];
    const response = await this.send(method, addressed(template, asked.path, asked.query), {
      headers: conditions(method, asked),
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body), type: "application/json" }),
      ...(asked.signal ? { signal: asked.signal } : {}),
    });
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as Answer<N>;
  }

  /** Send one request, again where that is safe; the answer is a success. */
  async send(
    method: string,
    path: string,
    more: { headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer>; type?: string; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json", ...more.headers };
    if (this.#options.key) headers["Authorization"] = `Bearer ${this.#options.key}`;
    if (more.type) headers["Content-Type"] = more.type;
    for (let attempt = 0; ; attempt += 1) {
      const last = attempt >= this.#options.retries;
      const tried = await this.#try(method, path, headers, more.body, more.signal, last);
      if (tried instanceof Response && (tried.ok || last || !AGAIN.has(tried.status))) return checked(tried);
      more.signal?.throwIfAborted();
      await pause(attempt, tried);
    }
  }

  async #try(
    method: string, path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer> | undefined,
    signal: AbortSignal | undefined, last: boolean,
  ): Promise<Response | undefined> {
    const limit = AbortSignal.timeout(this.#options.timeout);
    try {
      return await this.#options.fetch(this.address + path, {
        method, headers, signal: signal ? AbortSignal.any([signal, limit]) : limit, ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (last) throw new RetentiveError(0, "unreachable", `${this.address} does not answer: is \`retentive serve\` running there?`, {}, { cause: error });
      return undefined;
    }
  }
}

function addressed(template: string, path: unknown, query: unknown): string {
  const given = (path ?? {}) as Record<string, string>;
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name];
    if (value === undefined) throw new TypeError(`${template} needs ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, typeof one === "object" ? JSON.stringify(one) : String(one));
    }
  }
  return search.size ? `${filled}?${search}` : filled;
}

function conditions(method: string, asked: { once?: string; version?: string }): Record<string, string> {
  const headers: Record<string, string> = {};
  if (method !== "GET") headers["Idempotency-Key"] = asked.once ?? crypto.randomUUID();
  if (asked.version !== undefined) headers["If-Match"] = `"${asked.version}"`;
  return headers;
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  let problem: Record<string, unknown> = {};
  try {
    problem = JSON.parse(text) as Record<string, unknown>;
  } catch {
    problem = { detail: text.slice(0, 500) };
  }
  throw RetentiveError.of(response.status, problem);
}

async function pause(attempt: number, response: Response | undefined): Promise<void> {
  await response?.body?.cancel();
  const told = Number(response?.headers.get("retry-after")) * 1_000;
  const grown = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt) * (0.5 + Math.random() / 2);
  await new Promise((resolve) => setTimeout(resolve, Number.isFinite(told) && told > 0 ? Math.min(told, LONGEST_PAUSE) : grown));
}
