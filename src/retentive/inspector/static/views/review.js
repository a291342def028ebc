// What wants a person's eye: conflicts that were noticed but not settled, what was taken for a repetition, insights whose
// evidence fell, jobs that wait.

import { ask, inSpace } from "../api.js";
import { empty, h, table } from "../dom.js";
import { link, moment, number } from "../say.js";

export const title = "Review";

export async function show(main, context) {
  const { space, current } = context;
  const [{ conflicts }, { repetitions }, { shaken }, { jobs }] = await Promise.all(
    ["/conflicts", "/repetitions", "/shaken", "/jobs"].map((path) => ask("GET", inSpace(space, path))));
  if (!current()) return;
  const part = (words, found, make, nothing) => main.append(h("h2", {}, words), ...(found.length ? found.map(make) : [empty(nothing)]));
  part("Conflicts", conflicts, (found) => conflict(found, context), "Nothing contradicts anything, as far as was noticed.");
  part("Said again", repetitions, (found) => repetition(found, context), "Nothing was taken for a repetition.");
  part("Shaken insights", shaken, (found) => doubted(found, space), "Every insight still has its evidence.");
  const rows = jobs.map((job) => [job.kind, job.state, job.attempts, moment(job.due_at), job.error || ""]);
  main.append(h("h2", {}, "Jobs"), rows.length ? table([{ name: "kind" }, { name: "state" }, { name: "tries", number: true }, { name: "due" }, { name: "error" }], rows, "Jobs that are not done")
    : empty("No job waits."));
}

function settling(card, { space, say, fail }, path, label, words, quiet) {
  return h("button", { type: "button", class: quiet && "quiet", onclick: async () => {
    try {
      await ask("POST", inSpace(space, path), { body: { reason: "settled in the inspector" } });
      card.remove();
      say(words);
    } catch (error) {
      fail(error);
    }
  } }, label);
}

function conflict(found, context) {
  const card = h("article", { class: "card conflict" });
  const at = `/conflicts/${encodeURIComponent(found.id)}`;
  card.append(h("div", { class: "row" }, h("span", { class: "pill" }, `confidence ${number(found.confidence, 2)}`), h("span", { class: "pill" }, found.status),
    h("span", { class: "right faint" }, moment(found.at))), h("p", {}, found.reason), side("newer", found.newer, context.space), side("older", found.older, context.space));
  if (found.status === "open") {
    card.append(h("div", { class: "row" }, settling(card, context, `${at}/accept`, "The newer one holds", "The older one is superseded."),
      settling(card, context, `${at}/dismiss`, "Both hold", "Dismissed: both stay.", true)));
  }
  return card;
}

function side(label, memory, space) {
  return h("p", { class: "text" }, h("span", { class: "faint" }, `${label}, ${moment(memory.created_at)}: `), memory.text, " ",
    h("a", { href: link("memory", space, { id: memory.id }) }, "Open"));
}

function repetition(found, context) {
  const card = h("article", { class: "card" });
  const said = found.said.text ?? found.memory.text;
  card.append(h("div", { class: "row" }, h("span", { class: "pill" }, found.status), h("span", { class: "right faint" }, moment(found.at))),
    h("p", { class: "text" }, String(said)), side("reinforced", found.memory, context.space));
  if (!found.separated) {
    card.append(settling(card, context, `/repetitions/${encodeURIComponent(found.id)}/separate`, "Keep it as one of its own", "It is a memory of its own again.", true));
  }
  return card;
}

function doubted({ memory, reason }, space) {
  return h("div", { class: "card" }, h("p", { class: "text" }, memory.text), h("p", { class: "warn" }, reason),
    h("a", { href: link("memory", space, { id: memory.id }) }, "Open the memory"));
}
