// The form that asks, as several views use it; and the policies there are.

import { ask, inSpace } from "./api.js";
import { field, h } from "./dom.js";
import { nameOf } from "./policy.js";

let presets;

export async function policies() {
  presets ||= (await ask("GET", "/v1/policies")).policies;
  return presets;
}

export async function policySelect(id, space, chosen) {
  const [known, own] = await Promise.all([policies(), ask("GET", inSpace(space, "/policy")).catch(() => null)]);
  const inForce = own ? `in force here (${nameOf(own.in_force)})` : "in force here";
  return h("select", { id, value: chosen || "" },
    h("option", { value: "", selected: !chosen }, inForce),
    known.map(({ name }) => h("option", { value: name, selected: name === chosen }, name)));
}

export async function question(space, params, more = []) {
  const cue = h("input", { id: "cue", type: "search", value: params.cue || "", required: true, autocomplete: "off",
    placeholder: "What would the agent ask?" });
  const policy = await policySelect("policy", space, params.policy);
  const limit = h("input", { id: "limit", type: "number", min: "1", max: "100", value: params.limit || "10" });
  const now = h("input", { id: "now", type: "text", value: params.now || "", placeholder: "2026-05-01T12:00Z", size: "20" });
  const form = h("form", { class: "asking", role: "search" },
    field("Cue (press / to come here)", cue, "grow"), field("Policy", policy), field("At most", limit),
    field("As if it were (empty: now)", now), more, h("button", { type: "submit" }, "Recall"));
  const asked = () => ({ cue: cue.value, policy: policy.value, limit: limit.value, now: now.value.trim() });
  return { form, asked };
}

export function body(asked) {
  const given = { cue: asked.cue, touch: false, trace: true };
  if (asked.limit) given.limit = Number(asked.limit);
  if (asked.policy_toml) given.policy_toml = asked.policy_toml;
  else if (asked.policy) given.policy = asked.policy;
  if (asked.now) given.now = asked.now;
  return given;
}

export const recall = (space, asked, signal) => ask("POST", inSpace(space, "/recall"), { body: body(asked), signal });
