import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { BaseStore, InMemoryStore, type Operation } from "@langchain/langgraph-checkpoint";

import { RetentiveStore } from "../src/langgraph.js";
import { Server } from "./server.js";

const ALICE = ["memories", "alice"];
let server: Server;
let store: RetentiveStore;
before(async () => {
  server = await Server.start();
  store = new RetentiveStore(server.address, { root: "graph" });
});
after(() => server.stop());

test("items are put, read, changed and deleted", async () => {
  assert.ok(store instanceof BaseStore);
  await store.put(ALICE, "db", { text: "Prefers Postgres", $odd: 1, nested: { level: 2 } });
  const item = await store.get(ALICE, "db");
  assert.deepEqual([item?.namespace, item?.key, item?.value], [ALICE, "db", { text: "Prefers Postgres", $odd: 1, nested: { level: 2 } }]);
  await store.put(ALICE, "db", { text: "Prefers SQLite" });
  assert.deepEqual((await store.get(ALICE, "db"))?.value, { text: "Prefers SQLite" });
  await store.delete(ALICE, "db");
  await store.delete(ALICE, "db");
  assert.equal(await store.get(ALICE, "db"), null);
});

test("a search is a recall: ranked, filtered, below whole labels alone", async () => {
  await store.put(ALICE, "tea", { text: "Alice drinks green tea every morning", stars: 5, kind: "drink" });
  await store.put(ALICE, "car", { text: "Alice sold the blue car in spring", stars: 2, kind: "thing" });
  await store.put(["memories", "alice2"], "tea", { text: "somebody else drinks green tea every morning" });
  const [first] = await store.search(ALICE, { query: "green tea every morning" });
  assert.equal(first?.key, "tea");
  assert.deepEqual(first.namespace, ALICE);
  assert.ok((first.score ?? 0) > 0);
  assert.deepEqual((await store.search(ALICE, { filter: { stars: { $gte: 3 } } })).map((item) => item.key), ["tea"]);
  assert.deepEqual((await store.search(ALICE, { filter: { kind: "thing" } })).map((item) => item.key), ["car"]);
  assert.deepEqual((await store.search(ALICE, { query: "green tea every morning", filter: { stars: { $lt: 3 } } })).map((item) => item.key), []);
  const everywhere = await store.search(["memories"], { query: "green tea every morning", limit: 5 });
  assert.deepEqual(new Set(everywhere.map((item) => item.namespace.join("/"))), new Set(["memories/alice", "memories/alice2"]));
});

test("what is not indexed is kept and not found by meaning", async () => {
  await store.put(ALICE, "veiled", { text: "the veiled word quixotic" }, false);
  assert.equal((await store.get(ALICE, "veiled"))?.value["text"], "the veiled word quixotic");
  assert.deepEqual((await store.search(ALICE, { query: "the veiled word quixotic" })).filter((item) => item.key === "veiled"), []);
});

test("reads of a batch come before its writes, and the last write of a key counts", async () => {
  const operations: Operation[] = [
    { namespace: ["b"], key: "k" },
    { namespace: ["b"], key: "k", value: { text: "first" } },
    { namespace: ["b"], key: "k", value: { text: "second" } },
  ];
  const answers: unknown[] = await store.batch(operations);
  assert.equal(answers[0], null);
  assert.equal((await store.get(["b"], "k"))?.value["text"], "second");
});

/** Live a life in a store, and return every answer without its times and scores. */
async function life(of: BaseStore): Promise<unknown> {
  const answers: unknown[] = [await of.get(["life", "a"], "nothing"), await of.search(["life"]), await of.listNamespaces({ prefix: ["life"] })];
  const got = async () => answers.push(await of.get(["life", "a"], "one").then((item) => (item ? structuredClone(bare(item)) : null))); // theirs changes what it gave
  await of.put(["life", "a"], "one", { text: "first", n: 1, deep: { level: 2 } });
  await of.put(["life", "a"], "two", { text: "second", n: 2, tags: ["x", "y"] });
  await of.put(["life", "a", "b"], "three", { text: "third", n: 3, on: true });
  await of.put(["life", "ab"], "four", { text: "fourth", n: 4 });
  await got();
  for (const filter of [{}, { n: 2 }, { n: { $gte: 2 } }, { n: { $gt: 1, $lt: 4 } }, { n: { $ne: 1 } }, { on: true }, { text: { $eq: "first" } }, { none: 1 }]) {
    answers.push(await of.search(["life"], { filter }).then((found) => found.map(bare).map((item) => structuredClone(item)).sort((one, other) => one.key.localeCompare(other.key))));
  }
  answers.push(await of.search(["life", "a"], { limit: 2 }).then((found) => found.length), await of.search(["life"], { limit: 9, offset: 1 }).then((found) => found.length)); // not below ["life", "a"]: theirs finds "ab" there
  for (const condition of [{ prefix: ["life"] }, { prefix: ["life", "a"] }, { suffix: ["b"] }, { prefix: ["life"], maxDepth: 2 }, { prefix: ["life", "*", "b"] }]) {
    answers.push((await of.listNamespaces(condition)).map((namespace) => namespace.join("/")).sort());
  }
  await of.put(["life", "a"], "one", { text: "changed" });
  await got();
  await of.delete(["life", "a"], "one");
  await got();
  return answers;
}

const bare = ({ namespace, key, value }: { namespace: string[]; key: string; value: Record<string, unknown> }) => ({ namespace, key, value });

test("what LangGraph's own store answers, this one answers", async () => {
  assert.deepEqual(await life(new RetentiveStore(server.address, { root: "life" })), await life(new InMemoryStore()));
});

test("namespaces are listed by label, whatever a label is made of", async () => {
  await store.put(["odd", "a/b", "50%", " x "], "k", { text: "odd labels" });
  assert.deepEqual(await store.listNamespaces({ prefix: ["odd"] }), [["odd", "a/b", "50%", " x "]]);
  assert.deepEqual(await store.listNamespaces({ prefix: ["mem"] }), []);
  assert.deepEqual(await store.listNamespaces({ suffix: ["alice"] }), [ALICE]);
  assert.deepEqual(await store.listNamespaces({ prefix: ["memories"], maxDepth: 1 }), [["memories"]]);
  await assert.rejects(store.put([], "k", { text: "x" }), /cannot be empty/);
  await assert.rejects(store.put(["a.b"], "k", { text: "x" }), /label/);
});

test("the Python store sees the same items, and this one its", () => {
  const code = `
from retentive.integrations.langgraph import RetentiveStore
import json, os
with RetentiveStore(os.environ["RETENTIVE_STORE"], root="graph") as store:
    item = store.get(("memories", "alice"), "tea")
    store.put(("from", "a/b"), "python", {"text": "written in Python", "n": 1, "on": True})
    print(json.dumps([list(item.namespace), item.key, item.value]))
`;
  try {
    server.python("import langgraph");
  } catch {
    return test.skip("langgraph is not installed beside the server");
  }
  assert.deepEqual(JSON.parse(server.python(code)), [ALICE, "tea", { text: "Alice drinks green tea every morning", stars: 5, kind: "drink" }]);
  return store.get(["from", "a/b"], "python").then((item) => assert.deepEqual(item?.value, { text: "written in Python", n: 1, on: true }));
});
