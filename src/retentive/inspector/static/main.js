// The frame: which space, which view, whose key; what a view shows is its own business.

import { ask, key, Problem } from "./api.js";
import { empty, h } from "./dom.js";
import { link } from "./say.js";
import * as compare from "./views/compare.js";
import * as health from "./views/health.js";
import * as memory from "./views/memory.js";
import * as recalls from "./views/recalls.js";
import * as review from "./views/review.js";
import * as scoreboard from "./views/scoreboard.js";
import * as search from "./views/search.js";
import * as timeline from "./views/timeline.js";

const VIEWS = { search, compare, timeline, recalls, review, scoreboard, health, memory };
const TABS = ["search", "compare", "timeline", "recalls", "review", "scoreboard", "health"];
const LISTED = 500; // spaces offered while typing; any other can be typed
const main = document.getElementById("main");
const status = document.getElementById("status");
const spaceField = document.getElementById("space");
const dialog = document.getElementById("key");
let shown = 0;

function where() {
  const asked = location.hash.replace(/^#\/?/, "") || "search";
  const end = asked.includes("?") ? asked.indexOf("?") : asked.length; // a question may have more of them
  const path = asked.slice(0, end);
  const params = Object.fromEntries(new URLSearchParams(asked.slice(end + 1)));
  const { space = sessionStorage.getItem("retentive.space") || "", ...rest } = params;
  return { view: VIEWS[path] ? path : "search", space, params: rest };
}

export function say(words, failed = false) {
  status.textContent = words;
  status.className = failed ? "failed" : "";
}

async function show() {
  const { view, space, params } = where();
  const turn = ++shown;
  spaceField.value = space;
  if (space) sessionStorage.setItem("retentive.space", space);
  tabs(view, space);
  document.title = `${VIEWS[view].title} – Retentive`;
  say("");
  const content = h("div", {}, h("h1", {}, VIEWS[view].title));
  main.replaceChildren(content);
  if (VIEWS[view].needsSpace !== false && !space) {
    content.append(empty("Choose a space above to look into it."));
    return;
  }
  const current = () => turn === shown;
  try {
    await VIEWS[view].show(content, { space, params, say, current, fail });
  } catch (error) {
    if (current()) fail(error);
  }
}

function fail(error) {
  if (error.name === "AbortError") return;
  say(error.message, true);
  if (error instanceof Problem && error.status === 401) askForKey();
}

function tabs(view, space) {
  document.getElementById("views").replaceChildren(...TABS.map((name) =>
    h("li", {}, h("a", { href: link(name, space), "aria-current": name === view && "page" }, VIEWS[name].title))));
}

function askForKey() {
  if (dialog.open) return;
  document.getElementById("key-value").value = "";
  dialog.showModal();
}

async function listSpaces() {
  try {
    const { spaces } = await ask("GET", "/v1/spaces", { query: { limit: LISTED } });
    document.getElementById("spaces").replaceChildren(...spaces.map((space) => h("option", { value: space })));
    const { view, space } = where();
    if (!space && spaces.length) location.hash = link(view, spaces[0]);
  } catch (error) {
    fail(error);
  }
}

document.getElementById("where").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = link(where().view === "memory" ? "search" : where().view, spaceField.value.trim());
});
document.getElementById("key-button").addEventListener("click", askForKey);
dialog.addEventListener("close", () => {
  if (dialog.returnValue !== "use") return;
  key.set(document.getElementById("key-value").value.trim());
  document.getElementById("key-value").value = "";
  listSpaces();
  show();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
  if (event.key === "/" && !typing && document.getElementById("cue")) {
    event.preventDefault();
    document.getElementById("cue").focus();
  }
});
window.addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true });
});
listSpaces();
show();
