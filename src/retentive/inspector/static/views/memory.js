// One memory: what it says, how it fades, what it replaced, what it rests on, and everything that was done to it.

import { ask, one } from "../api.js";
import { policies } from "../asking.js";
import { facts, field, h, s, table } from "../dom.js";
import { hue, link, moment, number } from "../say.js";

export const title = "Memory";

export async function show(main, { space, params, current, fail }) {
  const id = params.id || "";
  const memory = await ask("GET", one(space, id), { query: { touch: "false" } });
  const [chain, journal, known] = await Promise.all([
    ask("GET", one(space, id, "/chain")), ask("GET", one(space, id, "/journal")), policies()]);
  if (!current()) return;
  const pick = h("select", { id: "fading-policy" }, h("option", { value: "" }, "in force here"), known.map(({ name }) => h("option", { value: name }, name)));
  const ahead = h("input", { id: "ahead", type: "number", min: "0", max: "3650", value: "90" });
  const curve = h("div", { "aria-live": "polite" });
  const draw = async () => {
    try {
      const told = await ask("GET", one(space, id, "/fading"), { query: { policy: pick.value, ahead_days: ahead.value || "0" } });
      if (current()) curve.replaceChildren(plot(told));
    } catch (error) {
      fail(error);
    }
  };
  pick.addEventListener("change", draw);
  ahead.addEventListener("change", draw);
  main.append(
    h("article", { class: "card" }, h("div", { class: "row" }, h("span", { class: "pill" }, memory.kind), states(memory)), h("p", { class: "text" }, memory.text)),
    told(memory, space),
    h("h2", {}, "How it fades"), h("div", { class: "asking" }, field("Under the policy", pick), field("Days ahead", ahead)), curve,
    ...chained(chain.memories, space, id), ...evidence(memory, space), story(journal.entries));
  await draw();
}

function states(memory) {
  const said = [];
  if (memory.pinned) said.push("pinned");
  if (memory.permanent) said.push("permanent");
  if (memory.superseded_at) said.push("superseded");
  if (memory.suppressed_at) said.push("hidden");
  if (!memory.retrievable) said.push("not recalled as it is");
  return said.map((word) => h("span", { class: "pill warn" }, word));
}

function told(memory, space) {
  const other = (id) => id && h("a", { href: link("memory", space, { id }) }, id);
  return facts([
    ["id", h("span", { class: "mono" }, memory.id)], ["said", moment(memory.created_at)], ["recorded", moment(memory.recorded_at)],
    ["importance", number(memory.importance, 2)], ["trust", number(memory.trust, 2)], ["key", memory.key], ["tags", memory.tags.join(", ")],
    ["source", memory.source], ["speaker", memory.speaker], ["session", memory.session], ["names", memory.entities.join(", ")],
    ["true from", moment(memory.valid_from)], ["true until", moment(memory.valid_until)], ["recurs", memory.recurs],
    ["superseded", moment(memory.superseded_at)], ["by", other(memory.superseded_by)], ["hidden", moment(memory.suppressed_at)],
    ["metadata", Object.keys(memory.metadata).length ? JSON.stringify(memory.metadata) : ""],
  ]);
}

function plot(fading) {
  const names = Object.keys(fading.curves);
  if (!names.length) return h("p", { class: "faint" }, `${fading.policy} has no signal that time changes.`);
  const width = 720, height = 220, left = 34, bottom = 22;
  const times = fading.moments.map((text) => Date.parse(text));
  const from = times[0], until = times.at(-1), now = Date.parse(fading.now);
  const most = Math.max(1, ...names.flatMap((name) => fading.curves[name]));
  const x = (time) => left + ((time - from) / Math.max(until - from, 1)) * (width - left - 6);
  const y = (value) => height - bottom - (value / most) * (height - bottom - 8);
  const path = (name, keep) => times.map((time, at) => [time, fading.curves[name][at]]).filter(([time]) => keep(time))
    .map(([time, value], at) => `${at ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const said = names.map((name) => `${name} ${number(valueAt(fading, name, now))}`).join(", ");
  const svg = s("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Now: ${said}. Read ${fading.accesses.length} times as far as kept.` },
    [0, 0.5, 1].map((share) => [s("line", { class: "axis", x1: left, x2: width, y1: y(share * most), y2: y(share * most) }),
      s("text", { x: 2, y: y(share * most) + 4 }, number(share * most, 1))]),
    names.map((name) => [s("path", { class: `l${hue(name)}`, d: path(name, (time) => time <= now) }),
      s("path", { class: `ahead l${hue(name)}`, d: path(name, (time) => time >= now) })]),
    s("line", { class: "now", x1: x(now), x2: x(now), y1: 4, y2: height - bottom }), s("text", { x: Math.min(x(now) + 4, width - 30), y: 14 }, "now"),
    fading.accesses.map((text) => s("circle", { class: "read", cx: x(Date.parse(text)), cy: height - bottom, r: 4 }, s("title", {}, `read ${moment(text)}`))),
    s("text", { x: left, y: height - 5 }, moment(fading.moments[0]).slice(0, 10)), s("text", { x: width - 70, y: height - 5 }, moment(fading.moments.at(-1)).slice(0, 10)));
  return h("figure", { class: "card" }, svg, h("figcaption", {}, h("ul", { class: "legend" },
    names.map((name) => h("li", {}, h("i", { class: `c${hue(name)}` }), `${name}, weight ${number(fading.weights[name])}`)),
    h("li", { class: "faint" }, "dashed: as it will be, unless it is read; dots: readings"))));
}

function valueAt(fading, name, now) {
  const place = fading.moments.findIndex((text) => Date.parse(text) >= now);
  return fading.curves[name].at(place);
}

function chained(memories, space, own) {
  if (memories.length < 2) return [];
  return [h("h2", {}, "Its chain, oldest first"), h("ol", {}, memories.map((memory) =>
    h("li", {}, memory.id === own ? h("strong", {}, memory.text) : h("a", { href: link("memory", space, { id: memory.id }) }, memory.text),
      " ", h("span", { class: "faint" }, moment(memory.created_at), memory.superseded_at ? `, until ${moment(memory.superseded_at)}` : ""))))];
}

function evidence(memory, space) {
  if (!memory.derived_from.length) return [];
  return [h("h2", {}, "What it rests on"), h("ul", {}, memory.derived_from.map((id) =>
    h("li", {}, h("a", { class: "mono", href: link("memory", space, { id }) }, id))))];
}

function story(entries) {
  const rows = entries.map((entry) => [moment(entry.at), entry.action, entry.actor || "", entry.reason || "", changes(entry)]);
  return h("section", {}, h("h2", {}, "What was done to it"),
    table([{ name: "when" }, { name: "what" }, { name: "who" }, { name: "why" }, { name: "change" }], rows, "The journal, oldest first"));
}

function changes(entry) {
  if (!entry.before || !entry.after) return "";
  const names = Object.keys(entry.after).filter((name) => JSON.stringify(entry.before[name]) !== JSON.stringify(entry.after[name]));
  return names.map((name) => h("div", {}, `${name}: ${JSON.stringify(entry.before[name] ?? null)} → ${JSON.stringify(entry.after[name])}`));
}
