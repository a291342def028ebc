/** Namespaces as space paths, one to one: a label is a segment, quoted where a segment could not hold it. */

const NEVER = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}%/]/u;
const encoder = new TextEncoder();

function quoted(label: string): string {
  if (label === "." || label === "..") return [...label].map(spelt).join("");
  const start = label.length - label.trimStart().length;
  const end = label.trimEnd().length;
  let at = 0;
  return [...label].map((character) => {
    const inside = start <= at && at < end;
    at += character.length;
    return inside && !NEVER.test(character) ? character : spelt(character);
  }).join("");
}

const spelt = (character: string): string => [...encoder.encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

function unquoted(segment: string): string | undefined {
  try {
    const label = decodeURIComponent(segment);
    return label && quoted(label) === segment ? label : undefined;
  } catch {
    return undefined;
  }
}

export function pathOf(namespace: readonly string[], root: readonly string[]): string {
  return [...root, ...namespace.map(quoted)].join("/");
}

/** The namespace of a space; undefined where it lies elsewhere, or was not made by a namespace. */
export function namespaceOf(path: string, root: readonly string[]): string[] | undefined {
  const segments = path.split("/");
  if (!root.every((segment, at) => segments[at] === segment) || segments.length === root.length) return undefined;
  const labels = segments.slice(root.length).map(unquoted);
  return labels.includes(undefined) ? undefined : (labels as string[]);
}
