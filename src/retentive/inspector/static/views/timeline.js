// A space in time: its memories, newest first, day by day, a page at a time however many there are.

import { ask, inSpace } from "../api.js";
import { empty, field, h, s } from "../dom.js";
import { day, link, moment } from "../say.js";

export const title = "Timeline";
const PAGE = 100;

export async function show(main, { space, params, say, current, fail }) {
  const { kinds } = await ask("GET", "/v1");
  if (!current()) return;
  const kind = h("select", { id: "kind" }, h("option", { value: "" }, "every kind"), kinds.map((name) => h("option", { value: name, selected: name === params.kind }, name)));
  const hidden = h("input", { id: "hidden", type: "checkbox", checked: params.hidden === "true" });
  const until = h("input", { id: "until", type: "text", value: params.until || "", placeholder: "2026-05-01T00:00Z" });
  const form = h("form", { class: "asking" }, field("Kind", kind), field("Until", until),
    h("label", { class: "row" }, hidden, "also superseded, forgotten and expired"), h("button", { type: "submit" }, "Show"));
  const strip = h("div"), list = h("div"), more = h("button", { type: "button", class: "quiet" }, "Earlier ones");
  main.append(form, strip, list, more);
  let cursor, lastDay = "", counted = new Map();

  async function page() {
    more.disabled = true;
    try {
      const query = { limit: PAGE, cursor, kinds: kind.value, until: until.value.trim(), hidden: hidden.checked ? "true" : "" };
      const answer = await ask("GET", inSpace(space, "/memories"), { query });
      if (!current()) return;
      for (const memory of answer.memories) {
        const date = day(memory.created_at);
        counted.set(date, (counted.get(date) || 0) + 1);
        if (date !== lastDay) list.append(h("h2", { class: "day" }, (lastDay = date)));
        list.append(line(memory, space));
      }
      cursor = answer.cursor;
      more.hidden = !cursor;
      strip.replaceChildren(...activity(counted));
      if (!list.children.length) list.append(empty("No memory here yet. `retentive remember` makes the first."));
      say(`${[...counted.values()].reduce((sum, count) => sum + count, 0)} memories shown${cursor ? "; there are earlier ones" : ""}.`);
    } catch (error) {
      fail(error);
    } finally {
      more.disabled = false;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    [cursor, lastDay, counted] = [undefined, "", new Map()];
    list.replaceChildren();
    history.replaceState(null, "", link("timeline", space, { kind: kind.value, until: until.value, hidden: hidden.checked || "" }));
    page();
  });
  more.addEventListener("click", page);
  await page();
}

function line(memory, space) {
  const gone = memory.superseded_at ? "superseded" : memory.suppressed_at ? "hidden" : "";
  return h("div", { class: "card" }, h("div", { class: "row" }, h("span", { class: "pill" }, memory.kind), gone && h("span", { class: "pill warn" }, gone),
    memory.pinned && h("span", { class: "pill" }, "pinned"), memory.speaker && h("span", { class: "faint" }, memory.speaker),
    h("span", { class: "faint right" }, moment(memory.created_at))),
  h("p", { class: memory.text.length > 600 ? "text long" : "text" }, memory.text), h("a", { href: link("memory", space, { id: memory.id }) }, "Open the memory"));
}

function activity(counted) {
  const days = [...counted].reverse();
  if (days.length < 2) return [];
  const most = Math.max(...counted.values()), width = 720, wide = Math.max(1, width / days.length - 1);
  return [s("svg", { class: "plot", viewBox: `0 0 ${width} 60`, role: "img", "aria-label": `Memories a day from ${days[0][0]} to ${days.at(-1)[0]}, at most ${most}` },
    days.map(([date, count], at) => s("rect", { x: (at * width) / days.length, y: 58 - (56 * count) / most, width: wide, height: (56 * count) / most + 1 },
      s("title", {}, `${date}: ${count}`))))];
}
