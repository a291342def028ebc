// How the server is: ready or not, which policy and embedder, what your key may do, and its figures where it may see them.

import { ask, inSpace } from "../api.js";
import { facts, h, table } from "../dom.js";
import { nameOf } from "../policy.js";

export const title = "Health";
export const needsSpace = false;
const LEFT_OUT = /_bucket|_created|^python_|^process_|^#|^$/;

export async function show(main, { space, current }) {
  const [about, ready] = await Promise.all([ask("GET", "/v1"), ask("GET", "/health/ready").catch((error) => ({ status: error.message }))]);
  const own = space ? await ask("GET", inSpace(space, "/policy")).catch(() => null) : null;
  const figures = await ask("GET", "/metrics").catch(() => "");
  if (!current()) return;
  main.append(facts([
    ["server", h("span", { class: ready.status === "ready" ? "good" : "bad" }, ready.status)], ["version", about.version], ["default policy", about.policy],
    ["policy in force here", own && (own.applied ? `${nameOf(own.in_force)}, this space's own` : nameOf(own.in_force))], ["embedder", about.embedder],
    ["kinds", about.kinds.join(", ")], ["your key", about.key.id || "none: this machine"], ["it may", about.key.right],
    ["it reaches", about.key.spaces ? about.key.spaces.join(", ") : "every space"],
  ]));
  const rows = String(figures).split("\n").filter((line) => !LEFT_OUT.test(line))
    .map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]);
  main.append(h("h2", {}, "Figures"), rows.length ? table([{ name: "figure", class: "id" }, { name: "value", number: true }], rows, "From /metrics")
    : h("p", { class: "faint" }, "Figures are for keys with the right admin on the whole store; /metrics has all of them."));
}
