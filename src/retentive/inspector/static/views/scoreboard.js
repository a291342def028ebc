// The behaviours that must hold, run here and now on this installation; and reports of measurements, where some lie.

import { ask } from "../api.js";
import { empty, h, table } from "../dom.js";
import { moment, number } from "../say.js";

export const title = "Scoreboard";
export const needsSpace = false;
const FIGURES = ["name", "when", "set", "policy"].map((name) => ({ name })).concat(["nDCG@10", "any@5", "MRR"].map((name) => ({ name, number: true })));

export async function show(main, { say, current, fail }) {
  const board = h("div", { "aria-live": "polite" });
  const run = h("button", { type: "button", onclick: async () => {
    run.disabled = true;
    say("Running the scenarios; this takes some seconds…");
    try {
      const answer = await ask("POST", "/inspector/scenarios");
      if (current()) board.replaceChildren(shown(answer, say));
    } catch (error) {
      fail(error);
    } finally {
      run.disabled = false;
    }
  } }, "Run the scenarios");
  main.append(h("p", {}, "Each behaviour is a small story with a known right ending. They run in memory and touch no space."), run, board);
  const { reports, folder } = await ask("GET", "/inspector/reports");
  if (!current()) return;
  const rows = reports.flatMap((report) => report.rows.map((row) =>
    [report.name, moment(report.at), report.dataset, row.policy, number(row.ndcg), number(row.any5), number(row.mrr)]));
  main.append(h("h2", {}, "Measurements"), rows.length ? table(FIGURES, rows, `Runs saved in ${folder}`)
    : empty(folder ? `No saved run lies in ${folder}.` : "Start the server with --reports FOLDER to see the runs that `retentive eval run --save FOLDER/NAME` left."));
}

function shown({ scenarios }, say) {
  const passed = scenarios.filter((one) => one.outcome === "pass").length;
  say(`${passed} of ${scenarios.length} scenarios pass.`);
  return table([{ name: "no.", number: true }, { name: "behaviour" }, { name: "outcome" }, { name: "seen" }],
    scenarios.map((one) => [one.number, h("div", {}, h("strong", {}, one.name), h("div", { class: "faint" }, one.promise)),
      h("span", { class: one.outcome === "pass" ? "good" : "bad" }, one.outcome), one.reason]), "Behaviours");
}
