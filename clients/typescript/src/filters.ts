/** Filters of LangGraph's stores over JSON values, as the Python store understands them. */

type Json = unknown;
type Mapping = Record<string, Json>;
const ORDERS: Record<string, (one: number | string, other: number | string) => boolean> = {
  $gt: (one, other) => one > other,
  $gte: (one, other) => one >= other,
  $lt: (one, other) => one < other,
  $lte: (one, other) => one <= other,
};

export const isMapping = (value: Json): value is Mapping => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value has every entry of a filter; an absent entry counts as null. */
export function matches(value: Mapping, wanted: Mapping): boolean {
  return Object.entries(wanted).every(([name, condition]) => entry(value[name] ?? null, condition));
}

function entry(value: Json, condition: Json): boolean {
  if (!isMapping(condition)) return equal(value, condition);
  const names = Object.keys(condition);
  if (names.some((name) => name.startsWith("$"))) return names.every((name) => applied(value, name, condition[name]));
  return isMapping(value) && matches(value, condition);
}

function applied(value: Json, name: string, operand: Json): boolean {
  if (name === "$eq") return equal(value, operand);
  if (name === "$ne") return !equal(value, operand);
  const order = ORDERS[name];
  if (!order) throw new TypeError(`${name} is no operator of a filter; there are $eq, $ne, ${Object.keys(ORDERS).join(", ")}.`);
  if (typeof value === "string" && typeof operand === "string") return order(value, operand);
  const [one, other] = [numeric(value), numeric(operand)];
  return one !== undefined && other !== undefined && order(one, other);
}

function equal(one: Json, other: Json): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((each, at) => equal(each, other[at]));
  if (isMapping(one) && isMapping(other)) {
    const names = Object.keys(one);
    return names.length === Object.keys(other).length && names.every((name) => name in other && equal(one[name], other[name]));
  }
  return (one ?? null) === (other ?? null);
}

function numeric(value: Json): number | undefined {
  if (typeof value !== "number" && !(typeof value === "string" && value.trim())) return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

/** Part a filter into the equalities that the server's own index answers, and the rest. */
export function split(wanted: Mapping): [plain: Mapping, rest: Mapping] {
  const plain: Mapping = {}, rest: Mapping = {};
  for (const [name, condition] of Object.entries(wanted)) {
    const lone = isMapping(condition) && Object.keys(condition).join() === "$eq";
    const value = lone ? condition["$eq"] : condition;
    if (["string", "number", "boolean"].includes(typeof value)) plain[name] = value;
    else rest[name] = condition;
  }
  return [plain, rest];
}
