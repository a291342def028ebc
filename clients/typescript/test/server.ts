import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PYTHON = process.env["RETENTIVE_PYTHON"] ?? "python3";
const environment = (folder: string) => ({ PATH: process.env["PATH"], HOME: folder, RETENTIVE_STORE: join(folder, "store"), RETENTIVE_EMBEDDER: "hash", RETENTIVE_SERVE_WORKER: "false" });

/** A real server over a store of its own, started as an operator does. */
export class Server {
  private constructor(readonly address: string, readonly folder: string, readonly process: ChildProcess) {}

  static async start(): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), "retentive-ts-"));
    const child = spawn(PYTHON, ["-m", "retentive", "serve", "--port", "0"], { env: environment(folder), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let talk = "";
    child.stderr.on("data", (part) => (talk += String(part)));
    for (let tries = 0; tries < 600; tries += 1) {
      if (child.exitCode !== null) throw new Error(`The server ended: ${talk}`);
      const address = /http:\/\/127\.0\.0\.1:[1-9]\d*(?= )/.exec(talk)?.[0];  // the port is the system's to choose
      if (address && (await fetch(`${address}/health/ready`).then((answer) => answer.ok, () => false))) return new Server(address, folder, child);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`The server was not ready in a minute: ${talk}`);
  }

  /** Run Python over the same store. */
  python(code: string): string {
    const done = spawnSync(PYTHON, ["-c", code], { env: environment(this.folder), cwd: this.folder, encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout.trim();
  }

  command(...words: string[]): string {
    const done = spawnSync(PYTHON, ["-m", "retentive", ...words], { env: environment(this.folder), cwd: this.folder, encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout.trim();
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
