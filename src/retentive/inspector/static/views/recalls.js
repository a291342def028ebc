// The ledger: what was asked, what came back, what proved useful; and any of it asked again as if it were then.

import { ask, inSpace } from "../api.js";
import { recall } from "../asking.js";
import { empty, h } from "../dom.js";
import { link, moment, number } from "../say.js";

export const title = "Recalls";

export async function show(main, { space, current, fail, say }) {
  const { recalls } = await ask("GET", inSpace(space, "/recalls"), { query: { limit: 100 } });
  if (!current()) return;
  if (!recalls.length) {
    main.append(empty("No recall was noted yet. Recalls that count as a use are; those of this inspector do not."));
    return;
  }
  say(`The ${recalls.length} latest recalls.`);
  main.append(...recalls.map((entry) => card(entry, space, fail)));
}

function card(entry, space, fail) {
  const told = h("div", { "aria-live": "polite" });
  const again = h("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      told.replaceChildren(...replayed(entry, await recall(space, asThen(entry)), space));
    } catch (error) {
      fail(error);
    }
  } }, "Replay as of then");
  return h("article", { class: "card" },
    h("div", { class: "row" }, h("strong", {}, entry.cue || "(no words)"), h("span", { class: "pill" }, entry.policy),
      entry.outcome && h("span", { class: `pill ${entry.outcome === "bad" ? "bad" : ""}` }, entry.outcome), h("span", { class: "faint right" }, moment(entry.at))),
    h("ol", {}, entry.ids.map((id, at) => h("li", {}, h("a", { class: "mono", href: link("memory", space, { id }) }, id),
      h("span", { class: "faint" }, ` ${number(entry.scores[at])}`), entry.used.includes(id) && h("span", { class: "good" }, " used")))),
    h("div", { class: "row" }, again, h("a", { href: link("search", space, { cue: entry.cue, now: entry.at }) }, "Open in search")), told);
}

const asThen = (entry) => ({ cue: entry.cue, policy: entry.policy, now: entry.at, limit: String(Math.max(entry.ids.length, 1)) });

function replayed(entry, answer, space) {
  const now = answer.hits.map((hit) => hit.memory.id);
  const same = now.length === entry.ids.length && now.every((id, at) => id === entry.ids[at]);
  return [
    h("p", { class: same ? "good" : "warn" }, same ? "The same memories come back in the same order."
      : "Another answer comes back today, even as of that moment: memories, policy, or what was read since have changed."),
    h("ol", {}, answer.hits.map((hit) => h("li", {}, h("a", { href: link("memory", space, { id: hit.memory.id }) }, hit.memory.text),
      h("span", { class: "faint" }, ` ${number(hit.score)}${entry.ids.includes(hit.memory.id) ? "" : ", not then"}`)))),
  ];
}
