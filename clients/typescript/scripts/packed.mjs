// Test what a user gets: the packed tarball, installed into empty projects, with its types and the README's examples.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Server } from "../dist-test/test/server.js";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const PEERS = ["@langchain/langgraph@1.4.0", "@langchain/core@1.2.13", "zod@4", "zod-to-json-schema@3"]; // what an agent of LangGraph.js has
const TOOLS = ["typescript@5", "@types/node@20"];
const PRELUDE = `import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { AIMessage } from "@langchain/core/messages";
const llm = new FakeStreamingChatModel({ responses: [new AIMessage("Postgres")] });
const tools: never[] = [];
`;
const EPILOGUE = `
const told = await agent.invoke({ messages: [{ role: "user", content: "which database?" }] });
if (told.messages.at(-1)?.content !== "Postgres") throw new Error("the agent said something else");
`;
const GRAPH = `import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { RetentiveStore } from "@retentive/client/langgraph";
const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });
const store = new RetentiveStore("http://127.0.0.1:7677");
const graph = new StateGraph(State)
  .addNode("remember", async (_: typeof State.State, config: LangGraphRunnableConfig) => {
    await config.store?.put(["users", "bob"], "db", { content: "Bob runs SQLite on his laptop" });
    return {};
  })
  .addNode("recall", async (state: typeof State.State, config: LangGraphRunnableConfig) => {
    const found = await config.store?.search(["users", "bob"], { query: state.question, limit: 1 });
    return { answer: String(found?.[0]?.value["content"]) };
  })
  .addEdge(START, "remember")
  .addEdge("remember", "recall")
  .compile({ store });
const { answer } = await graph.invoke({ question: "what does Bob run on his laptop?", answer: "" });
if (answer !== "Bob runs SQLite on his laptop") throw new Error(answer);
`;

const run = (folder, command, ...words) => execFileSync(command, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function project(folder, tarball, ...more) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  run(folder, "npm", "install", "--no-audit", "--no-fund", "--silent", "--prefer-offline", tarball, ...more);
}

function packed(folder) {
  const [told] = JSON.parse(run(HERE, "npm", "pack", "--json", "--silent", "--pack-destination", folder));
  const files = told.files.map((file) => file.path).sort();
  const wrong = files.filter((path) => !/^(dist\/[a-z]+\.(js|d\.ts)|README\.md|package\.json)$/.test(path));
  assert.deepEqual(wrong, [], "only what is built, its types and the README belong into the tarball");
  for (const path of ["dist/index.js", "dist/index.d.ts", "dist/langgraph.js", "dist/langgraph.d.ts"]) assert.ok(files.includes(path), path);
  assert.ok(told.size < 100_000, `the tarball has ${told.size} bytes`);
  return join(folder, told.filename);
}

/** The client alone: nothing else is installed, and the store says what it lacks by its import. */
function alone(folder, tarball, address) {
  project(folder, tarball);
  assert.deepEqual(Object.keys(JSON.parse(run(folder, "npm", "ls", "--json", "--all")).dependencies), ["@retentive/client"]);
  const code = `import { Retentive } from "@retentive/client";
const space = new Retentive(${JSON.stringify(address)}).space("packed/alone");
await space.remember({ text: "Prefers tea in the morning" });
const { hits } = await space.recall({ cue: "tea in the morning" });
console.log(hits.length, await import("@retentive/client/langgraph").then(() => "there", (error) => error.code));`;
  assert.equal(run(folder, process.execPath, "--input-type=module", "-e", code).trim(), "1 ERR_MODULE_NOT_FOUND");
}

/** With LangGraph.js: strict types without looking away, then the README's examples and a graph, run. */
function together(folder, tarball, address) {
  project(folder, tarball, ...PEERS, ...TOOLS);
  const blocks = [...readFileSync(join(HERE, "README.md"), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map((block) => block[1]);
  assert.equal(blocks.length, 2);
  const files = { "client.ts": blocks[0], "agent.ts": PRELUDE + blocks[1] + EPILOGUE, "graph.ts": GRAPH };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text.replaceAll("http://127.0.0.1:7677", address));
  const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--target", "ES2022", "--module", "NodeNext", "--skipLibCheck", "--types", "node"];
  run(folder, "npx", "tsc", ...options, ...Object.keys(files));
  for (const name of Object.keys(files)) console.log(`${name}: ${run(folder, process.execPath, name.replace(".ts", ".js")).trim() || "ok"}`);
}

const folder = mkdtempSync(join(tmpdir(), "retentive-packed-"));
const server = await Server.start();
try {
  const tarball = packed(folder);
  for (const test of [alone, together]) test(mkdtempSync(join(folder, `${test.name}-`)), tarball, server.address);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
