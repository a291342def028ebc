// Two policies on one question, side by side: what each brings, and where they part.

import { policySelect, question, recall } from "../asking.js";
import { empty, field, h } from "../dom.js";
import { card, legend, ranked } from "../hits.js";
import { link } from "../say.js";

export const title = "Compare";

export async function show(main, { space, params, say, current, fail }) {
  const other = await policySelect("other", space, params.other || "blend");
  const { form, asked } = await question(space, params, [field("Against", other)]);
  if (!current()) return;
  const results = h("div", { class: "pair", "aria-live": "polite" });
  main.append(form, results);

  async function run() {
    try {
      const [left, right] = await Promise.all([recall(space, asked()), recall(space, { ...asked(), policy: other.value })]);
      if (!current()) return;
      const ids = [left, right].map((answer) => answer.hits.map((hit) => hit.memory.id));
      const both = ids[0].filter((id) => ids[1].includes(id)).length;
      say(`${both} memories in both answers, ${ids[0].length - both} only under ${left.policy}, ${ids[1].length - both} only under ${right.policy}.`);
      results.replaceChildren(side(left, ids[1], right.policy, space), side(right, ids[0], left.policy, space));
    } catch (error) {
      fail(error);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", link("compare", space, { ...asked(), other: other.value }));
    run();
  });
  if (params.cue) await run();
  else results.append(empty("Ask something to see two answers beside one another."));
}

function side(answer, others, otherName, space) {
  const hits = ranked(answer);
  return h("section", { "aria-label": `Under ${answer.policy}` }, h("h2", {}, answer.policy), legend(hits),
    hits.length ? hits.map((hit, at) => card(hit, at + 1, space, place(others.indexOf(hit.memory.id), at, otherName))) : empty("Nothing came back."));
}

function place(there, here, otherName) {
  if (there < 0) return { class: "warn", words: `not under ${otherName}` };
  return { class: "faint", words: there === here ? "the same place" : `${there + 1}. under ${otherName}` };
}
