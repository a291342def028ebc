// Asking the server. Every failure becomes a Problem whose words can be shown as they are.

const KEY = "retentive.key";

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

export async function ask(method, path, { query, body, signal } = {}) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") given.append(name, one);
    }
  }
  const headers = { Accept: "application/json" };
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path + (given.size ? `?${given}` : ""),
      { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is `retentive serve` still running?");
  }
  const text = await response.text();
  const data = text && (response.headers.get("content-type") || "").includes("json") ? JSON.parse(text) : text;
  if (!response.ok) throw new Problem(response.status, (data && (data.detail || data.title)) || `The server answered ${response.status}.`);
  return data;
}

export const inSpace = (space, path = "") => `/v1/spaces/${encodeURIComponent(space)}${path}`;
export const one = (space, id, path = "") => inSpace(space, `/memories/${encodeURIComponent(id)}${path}`);
