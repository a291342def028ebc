// A hit as a card: its text, where it came from, and its score as a stacked bar of contributions.

import { h } from "./dom.js";
import { hue, link, moment, number } from "./say.js";

export function bar(hit) {
  const parts = Object.entries(hit.signals).filter(([, signal]) => signal.contribution > 0);
  const whole = parts.reduce((sum, [, signal]) => sum + signal.contribution, 0) || 1;
  const said = parts.map(([name, signal]) => `${name} ${number(signal.contribution)}`).join(", ");
  const full = hit.combine === "product" ? 1 : Math.min(1, hit.score / (hit.best || hit.score || 1));
  const strip = h("div", { class: "bar", role: "img", "aria-label": `score ${number(hit.score)}: ${said}` });
  for (const [name, signal] of parts) {
    const piece = h("span", { class: `c${hue(name)}`, title: `${name} ${number(signal.contribution)}` });
    piece.style.width = `${(100 * full * signal.contribution) / whole}%`;
    strip.append(piece);
  }
  return strip;
}

export function legend(hits) {
  const names = new Set(hits.flatMap((hit) => Object.entries(hit.signals).filter(([, s]) => s.contribution > 0).map(([name]) => name)));
  return h("ul", { class: "legend", "aria-label": "Signals" },
    [...names].map((name) => h("li", {}, h("i", { class: `c${hue(name)}` }), name)));
}

export function arithmetic(hit) {
  const rows = Object.entries(hit.signals).map(([name, signal]) =>
    h("tr", {}, h("th", { scope: "row" }, name),
      [signal.raw, signal.normalised, signal.weight, signal.contribution].map((value) => h("td", { class: "number" }, number(value)))));
  const factors = hit.modifiers.map((modifier) =>
    h("tr", {}, h("th", { scope: "row" }, `× ${modifier.name}`), h("td", { colspan: "3" }, modifier.reason),
      h("td", { class: "number" }, number(modifier.factor))));
  return h("div", { class: "scroll" }, h("table", {},
    h("caption", { class: "faint" }, hit.combine === "product" ? "multiplied" : "added, then multiplied by the factors"),
    h("thead", {}, h("tr", {}, ["signal", "raw", "normalised", "weight", "contribution"].map((name, at) =>
      h("th", { scope: "col", class: at ? "number" : null }, name)))),
    h("tbody", {}, rows, factors),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row", colspan: "4" }, "score"), h("td", { class: "number" }, number(hit.score, 4))))));
}

export function card(hit, rank, space, moved) {
  const { memory } = hit;
  return h("article", { class: "card hit", tabindex: "0", "data-id": memory.id, "aria-label": `Hit ${rank}` },
    h("div", { class: "row" },
      h("span", { class: "rank" }, `${rank}.`), moved && h("span", { class: moved.class }, moved.words),
      h("span", { class: "pill" }, memory.kind), hit.channels.map((channel) => h("span", { class: "pill faint" }, channel)),
      hit.stale && h("span", { class: "pill warn" }, hit.stale),
      memory.superseded_at && h("span", { class: "pill bad" }, "superseded"),
      h("span", { class: "right rank" }, number(hit.score))),
    h("p", { class: memory.text.length > 600 ? "text long" : "text" }, memory.text),
    bar(hit),
    h("div", { class: "row faint" }, h("span", {}, moment(memory.created_at)), memory.speaker && h("span", {}, memory.speaker),
      h("span", {}, `similarity ${number(hit.similarity)}`), h("span", {}, `relevance ${number(hit.relevance)}`),
      h("a", { class: "right", href: link("memory", space, { id: memory.id }) }, "Open the memory")),
    h("details", {}, h("summary", {}, "Arithmetic"), arithmetic(hit)));
}

export function ranked(answer) {
  const best = answer.hits.length ? Math.max(...answer.hits.map((hit) => hit.score)) : 1;
  return answer.hits.map((hit) => ({ ...hit, best }));
}
