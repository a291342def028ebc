// What wants a person's eye: conflicts that were noticed but not settled, insights whose evidence fell, jobs that wait.

import { ask, inSpace } from "../api.js";
import { empty, h, table } from "../dom.js";
import { link, moment, number } from "../say.js";

export const title = "Review";

export async function show(main, context) {
  const { space, current } = context;
  const [conflicts, shaken, jobs] = await Promise.all([
    ask("GET", inSpace(space, "/conflicts")), ask("GET", inSpace(space, "/shaken")), ask("GET", inSpace(space, "/jobs"))]);
  if (!current()) return;
  main.append(h("h2", {}, "Conflicts"), ...(conflicts.conflicts.length ? conflicts.conflicts.map((found) => conflict(found, context))
    : [empty("Nothing contradicts anything, as far as was noticed.")]));
  main.append(h("h2", {}, "Shaken insights"), ...(shaken.shaken.length ? shaken.shaken.map((each) => doubted(each, space))
    : [empty("Every insight still has its evidence.")]));
  const rows = jobs.jobs.map((job) => [job.kind, job.state, job.attempts, moment(job.due_at), job.error || ""]);
  main.append(h("h2", {}, "Jobs"), rows.length ? table([{ name: "kind" }, { name: "state" }, { name: "tries", number: true }, { name: "due" }, { name: "error" }], rows, "Jobs that are not done")
    : empty("No job waits."));
}

function doubted({ memory, reason }, space) {
  return h("div", { class: "card" }, h("p", { class: "text" }, memory.text), h("p", { class: "warn" }, reason),
    h("a", { href: link("memory", space, { id: memory.id }) }, "Open the memory"));
}

function conflict(finding, { space, say, fail }) {
  const card = h("article", { class: "card" });
  const settle = (verb, label, words) => h("button", { type: "button", class: verb === "dismiss" ? "quiet" : null, onclick: async () => {
    try {
      await ask("POST", inSpace(space, `/conflicts/${encodeURIComponent(finding.id)}/${verb}`), { body: {} });
      card.remove();
      say(words);
    } catch (error) {
      fail(error);
    }
  } }, label);
  const side = (label, id) => h("div", {}, h("span", { class: "faint" }, label), " ", h("a", { class: "mono", href: link("memory", space, { id }) }, id));
  card.append(h("div", { class: "row" }, h("span", { class: "pill" }, `confidence ${number(finding.confidence, 2)}`), h("span", { class: "pill" }, finding.status), h("span", { class: "right faint" }, moment(finding.at))),
    h("p", {}, finding.reason), side("newer", finding.memory_id), side("older", finding.other_id));
  if (finding.status === "open") {
    card.append(h("div", { class: "row" }, settle("accept", "The newer one holds", "The older one is superseded."), settle("dismiss", "Both hold", "Dismissed: both stay.")));
  }
  return card;
}
