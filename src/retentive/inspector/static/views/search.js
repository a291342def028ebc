// Search a space under any policy, see every hit's arithmetic, turn the knobs, and keep what turned out better.

import { ask, inSpace, one } from "../api.js";
import { question, recall } from "../asking.js";
import { empty, field, h, table } from "../dom.js";
import { card, legend, ranked } from "../hits.js";
import { changed, knobs, nameOf } from "../policy.js";
import { link, moment, number } from "../say.js";

export const title = "Search";
const WAIT = 120; // milliseconds after the last move of a slider

export async function show(main, { space, params, say, current, fail }) {
  const { form, asked } = await question(space, params);
  if (!current()) return;
  const results = h("section", { "aria-label": "Hits", "aria-live": "polite" });
  const side = h("aside", { "aria-label": "Knobs" });
  main.append(form, h("div", { class: "split" }, results, side));
  let running, first;

  async function run(toml) {
    running?.abort();
    running = new AbortController();
    const started = performance.now();
    const wanted = { ...asked(), policy_toml: toml };
    try {
      const answer = await recall(space, wanted, running.signal);
      if (!current()) return;
      say(`${answer.hits.length} hits under ${answer.policy} in ${Math.round(performance.now() - started)} ms; nothing was noted as used.`);
      if (!toml) {
        first = answer.hits.map((hit) => hit.memory.id);
        side.replaceChildren(...turning(answer.policy_toml, run, { space, say, fail }));
      }
      results.replaceChildren(...shown(answer, toml ? first : null, { space, asked: wanted, fail }));
    } catch (error) {
      fail(error);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", link("search", space, asked()));
    run();
  });
  if (params.cue) await run();
  else {
    results.append(empty("Ask something: every hit shows where it came from and what its score is made of."));
    form.querySelector("#cue").focus();
  }
}

function shown(answer, before, { space, asked, fail }) {
  const hits = ranked(answer);
  const parts = hits.length
    ? [legend(hits), hits.map((hit, at) => card(hit, at + 1, space, before && moved(hit.memory.id, at, before)))]
    : [empty("Nothing came back. What was cut, and why, is below; an empty answer is right when nothing is relevant.")];
  const gone = (before || []).filter((id) => !hits.some((hit) => hit.memory.id === id));
  if (gone.length) parts.push(h("p", { class: "bad" }, `${gone.length} of the first answer no longer come back.`));
  return [parts, core(answer, space), notes(answer), cuts(answer, space), channels(answer.trace), whyNot(space, asked, fail)].flat(3);
}

function moved(id, at, before) {
  const was = before.indexOf(id);
  if (was < 0) return { class: "good", words: "new" };
  if (was === at) return null;
  return was > at ? { class: "good", words: `↑ ${was - at}` } : { class: "bad", words: `↓ ${at - was}` };
}

function core(answer, space) {
  if (!answer.core.length) return [];
  return [h("h2", {}, "Always in the prompt"), answer.core.map((memory) =>
    h("div", { class: "card" }, h("p", { class: "text" }, memory.text), h("a", { href: link("memory", space, { id: memory.id }) }, "Open the memory")))];
}

function notes(answer) {
  return answer.notes.length ? [h("h2", {}, "Notes"), h("ul", {}, answer.notes.map((note) => h("li", {}, note)))] : [];
}

function cuts(answer, space) {
  const { cut } = answer.trace;
  if (!cut.length) return [];
  const rows = cut.slice(0, 200).map((each) => [h("a", { href: link("memory", space, { id: each.id }) }, each.id), each.stage, each.reason, number(each.score)]);
  return [h("details", {}, h("summary", {}, `What was cut, and why (${cut.length})`),
    table([{ name: "memory", class: "id" }, { name: "stage" }, { name: "reason" }, { name: "score", number: true }], rows, "Candidates that did not make the answer"))];
}

function channels(trace) {
  const rows = Object.entries(trace.channels).map(([name, report]) => [name, report.found, report.scanned, name === "recent" ? "–" : number(report.best)]);
  const work = Object.entries(trace.work).map(([name, count]) => `${name.replaceAll("_", " ")} ${count}`).join(", ");
  return [h("details", {}, h("summary", {}, "Channels and work"),
    table([{ name: "channel" }, { name: "found", number: true }, { name: "looked at", number: true }, { name: "best", number: true }], rows, `As of ${moment(trace.now)}: ${work}`))];
}

function whyNot(space, asked, fail) {
  const id = h("input", { id: "why-id", type: "text", required: true, spellcheck: "false", placeholder: "a memory's id" });
  const told = h("div", { "aria-live": "polite" });
  const form = h("form", { class: "asking" }, field("Why did this memory not come back?", id, "grow"), h("button", { type: "submit" }, "Explain"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = { cue: asked.cue };
    if (asked.limit) question.limit = Number(asked.limit);
    if (asked.now) question.now = asked.now;
    if (asked.policy_toml) question.policy_toml = asked.policy_toml;
    else if (asked.policy) question.policy = asked.policy;
    try {
      const why = await ask("POST", one(space, id.value.trim(), "/why-not"), { body: question });
      told.replaceChildren(h("pre", { class: "card text" }, why.explained));
    } catch (error) {
      fail(error);
    }
  });
  return [h("h2", {}, "Why not?"), form, told];
}

function turning(toml, run, { space, say, fail }) {
  const changes = new Map();
  const name = `${nameOf(toml)}-turned`;
  const now = () => changed(toml, changes, name);
  let waiting;
  const sliders = knobs(toml).map((knob) => slider(knob, (value) => {
    changes.set(`${knob.section} ${knob.name}`, value);
    clearTimeout(waiting);
    waiting = setTimeout(() => run(now()), WAIT);
  }));
  const save = h("button", { type: "button", onclick: () => download(now(), `${name}.toml`) }, "Download as a policy");
  const keep = h("button", { type: "button", class: "quiet", onclick: async () => {
    if (!confirm(`Make this the policy of every recall in ${space} that names none? It can be taken back.`)) return;
    try {
      await ask("PUT", inSpace(space, "/policy"), { body: { policy_toml: now(), note: "turned in the inspector" } });
      say(`${name} is now the policy of ${space}.`);
    } catch (error) {
      fail(error);
    }
  } }, "Make it this space's");
  const back = h("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      const { applied } = await ask("DELETE", inSpace(space, "/policy"));
      say(applied ? "The policy before it is in force again." : "The default is in force again.");
    } catch (error) {
      fail(error);
    }
  } }, "Take it back");
  return [h("h2", {}, "Knobs"), h("p", { class: "faint" }, "Weights and half-lives. Moving one asks again; nothing is kept before you keep it."),
    ...sliders, h("div", { class: "row" }, save, keep, back)];
}

function slider(knob, turned) {
  const id = `${knob.section} ${knob.name}`.replaceAll(/\W+/g, "-");
  const days = /days|minutes|hours/.test(knob.name);
  const digits = days ? 1 : 3;
  const most = days ? 3 : Math.max(1, 2 * knob.value);
  const output = h("output", { for: id }, number(knob.value, digits));
  const control = h("input", { id, type: "range", min: days ? "-1" : "0", max: String(most), step: days ? "0.02" : "0.005" });
  control.value = String(days ? Math.log10(Math.max(knob.value, 0.1)) : knob.value);
  control.setAttribute("aria-valuetext", output.textContent);
  const value = () => (days ? Number((10 ** Number(control.value)).toPrecision(3)) : Number(control.value));
  control.addEventListener("input", () => {
    output.textContent = number(value(), digits);
    control.setAttribute("aria-valuetext", output.textContent);
    turned(value());
  });
  const label = knob.name === "weight" ? knob.signal : `${knob.signal}: ${knob.name.replaceAll("_", " ")}`;
  return h("div", { class: "slider" }, h("label", { for: id }, label), output, control);
}

function download(text, file) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  h("a", { href: address, download: file }).click();
  URL.revokeObjectURL(address);
}
