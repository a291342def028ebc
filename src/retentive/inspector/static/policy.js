// A policy as TOML, changed line by line: the server reads and checks it, nothing here knows what a signal means.

export function parse(toml) {
  let section = "";
  return toml.split("\n").map((line) => {
    const head = line.match(/^\[(.+)\]\s*$/);
    if (head) section = head[1];
    const entry = line.match(/^([\w-]+)\s*=\s*(.+)$/);
    return { line, section, name: entry && entry[1], value: entry && entry[2] };
  });
}

export function knobs(toml) {
  return parse(toml)
    .filter((entry) => entry.section.startsWith("signals.") && entry.name && entry.name !== "constant" && isNumber(entry.value))
    .map((entry) => ({ section: entry.section, signal: entry.section.slice("signals.".length), name: entry.name, value: Number(entry.value) }));
}

export function changed(toml, changes, name) {
  return parse(toml).map((entry) => {
    if (entry.section === "" && entry.name === "name") return `name = ${JSON.stringify(name)}`;
    const value = changes.get(`${entry.section} ${entry.name}`);
    return value === undefined ? entry.line : `${entry.name} = ${written(value)}`;
  }).join("\n");
}

export const nameOf = (toml) => {
  const entry = parse(toml).find((one) => one.section === "" && one.name === "name");
  return entry ? JSON.parse(entry.value) : "policy";
};

const isNumber = (text) => /^-?\d+(\.\d+)?(e-?\d+)?$/.test(text);
const written = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
