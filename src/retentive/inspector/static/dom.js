// Making elements. Text is always a text node: nothing that a memory says can become markup.

export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

export function s(tag, props = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function field(label, control, more = "") {
  return h("div", { class: `field ${more}` }, h("label", { for: control.id }, label), control);
}

export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, given.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

export function table(heads, rows, caption) {
  const cells = (kind, row) =>
    row.map((cell, at) => h(kind, { class: heads[at].number ? "number" : heads[at].class, scope: kind === "th" && "col" }, cell));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", { class: "faint" }, caption),
      h("thead", {}, h("tr", {}, cells("th", heads.map((head) => head.name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, cells("td", row))))));
}

export function empty(...words) {
  return h("div", { class: "empty" }, ...words);
}
