/** What the server refused, in its own words (RFC 9457): `detail` names the value and the remedy. */
export class RetentiveError extends Error {
  override readonly name = "RetentiveError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly problem: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  static of(status: number, problem: Record<string, unknown>): RetentiveError {
    const code = String(problem["type"] ?? "").split(/[:/]/).pop() ?? "";
    return new RetentiveError(status, code, String(problem["detail"] ?? problem["title"] ?? `HTTP ${status}`), problem);
  }
}
