// Numbers, moments and addresses as people read them.

export const number = (value, digits = 3) => (value === null || value === undefined ? "–" : Number(value).toFixed(digits));

export function moment(text) {
  if (!text) return "";
  const when = new Date(text);
  return Number.isNaN(when.getTime()) ? text : when.toISOString().replace("T", " ").slice(0, 16) + " UTC";
}

export const day = (text) => moment(text).slice(0, 10);

export function link(view, space, params = {}) {
  const query = new URLSearchParams();
  if (space) query.set("space", space);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  return `#/${view}${query.size ? "?" + query : ""}`;
}

// A colour for each signal, the same in every view: by name, not by place.
const ORDER = ["similarity", "lexical", "late", "context", "recency", "importance", "entity", "speaker", "frequency",
  "novelty", "freshness", "fusion", "succession", "window", "rerank"];

export function hue(name) {
  const at = ORDER.indexOf(name);
  return (at >= 0 ? at : [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0)) % 12;
}
