import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Retentive, RetentiveError } from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
let memories: Retentive;
before(async () => {
  server = await Server.start();
  memories = new Retentive(server.address);
});
after(() => server.stop());

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
}

test("what is remembered is recalled with its arithmetic", async () => {
  const alice = memories.space("acme/alice");
  const kept = await alice.remember({ text: "Prefers Postgres for relational work", kind: "preference", importance: 0.9, metadata: { ticket: 7 } });
  await alice.rememberMany(["Deploys failed with E4012 on staging", { text: "Likes tea", kind: "preference" }]);
  const recall = await alice.recall({ cue: "Postgres for relational work", limit: 2, touch: false });
  const [first] = recall.hits;
  assert.equal(first?.memory.id, kept.id);
  const sum = Object.values(first.signals).reduce((total, signal) => total + (signal.contribution ?? 0), 0);
  assert.ok(Math.abs(sum * first.modifiers.reduce((product, each) => product * (each.factor ?? 1), 1) - (first.score ?? 0)) < 1e-9);
  await alice.feedback({ recall_id: (await alice.recall("Postgres for relational work")).id, used: [kept.id], outcome: "good" });
});

test("memories are listed page by page, changed by version, and forgotten", async () => {
  const bob = memories.space(["acme", "bob"]);
  await bob.rememberMany(Array.from({ length: 25 }, (_, at) => `note number ${at} of bob`));
  const listed = await all(bob.list({ limit: 10 }));
  assert.equal(new Set(listed.map((memory) => memory.id)).size, 25);
  const [one] = listed;
  const changed = await bob.update(one!.id, { importance: 0.4, reason: "less" }, { version: one!.version! });
  assert.equal(changed.importance, 0.4);
  await assert.rejects(bob.update(one!.id, { importance: 0.1 }, { version: one!.version! }), (error) => error instanceof RetentiveError && error.status === 412);
  await bob.forget(one!.id, { reason: "test" });
  const why = await bob.whyNot(one!.id, { cue: "note" });
  assert.equal(why.reasons[0]?.stage, "gate");
});

test("a write with one key happens once", async () => {
  const carol = memories.space("acme/carol");
  await carol.remember("said once", { once: "turn-1" });
  await carol.remember("said once", { once: "turn-1" });
  assert.equal((await all(carol.list())).length, 1);
});

test("a space goes out and comes in whole", async () => {
  const lines = await new Response(await memories.space("acme/bob").export()).text();
  const { added } = await memories.space("acme/dave").import(lines);
  assert.equal(added, 25);
  assert.deepEqual(await all(memories.spaces()), ["acme/alice", "acme/bob", "acme/carol", "acme/dave"]);
});

test("refusals say what is wrong in the server's words", async () => {
  const alice = memories.space("acme/alice");
  await assert.rejects(alice.get("nobody"), (error) => error instanceof RetentiveError && error.status === 404 && /nobody/.test(error.message));
  await assert.rejects(alice.remember({ text: "x", kind: "prefrence" }), /preference/);
  await assert.rejects(new Retentive("http://127.0.0.1:9", { retries: 0 }).about(), /does not answer/);
});

test("what is busy or breaks is asked again, with the same key of the write", async () => {
  const keys: (string | null)[] = [];
  const flaky: typeof fetch = async (address, init) => {
    keys.push(new Headers(init?.headers).get("idempotency-key"));
    if (keys.length === 1) throw new TypeError("connection reset");
    if (keys.length === 2) return new Response("", { status: 503, headers: { "retry-after": "0.01" } });
    return fetch(address, init);
  };
  const patient = new Retentive(server.address, { fetch: flaky });
  await patient.space("acme/erin").remember("through a bad line");
  assert.equal(keys.length, 3);
  assert.ok(keys[0] && new Set(keys).size === 1);
});

test("with keys a caller reaches what its key reaches", async () => {
  const key = server.command("keys", "create", "--for", "acme/alice", "--read", "--json");
  const secret = /rtv_[\w-]+/.exec(key)?.[0];
  assert.ok(secret);
  const bound = new Retentive(server.address, { key: secret });
  assert.deepEqual(await all(bound.spaces()), ["acme/alice"]);
  await assert.rejects(bound.space("acme/bob").recall("note"), (error) => error instanceof RetentiveError && error.status === 403);
  await assert.rejects(bound.space("acme/alice").remember("x"), (error) => error instanceof RetentiveError && error.status === 403);
  await assert.rejects(memories.about(), (error) => error instanceof RetentiveError && error.status === 401);
});
