import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PYTHON = process.env["RETENTIVE_PYTHON"] ?? "python3";
const environment = (folder: string) => ({ PATH: process.env["PATH"], HOME: folder, RETENTIVE_STORE: join(folder, "store"), RETENTIVE_EMBEDDER: "hash" });

/** A real server over a store of its own, started as an operator does. */
export class Server {
  private constructor(readonly address: string, readonly folder: string, readonly process: ChildProcess) {}

  static async start(): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), "retentive-ts-"));
    const port = await freePort();
    const child = spawn(PYTHON, ["-m", "retentive", "serve", "--port", String(port)], { env: environment(folder), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let talk = "";
    child.stderr.on("data", (part) => (talk += String(part)));
    const server = new Server(`http://127.0.0.1:${port}`, folder, child);
    for (let tries = 0; tries < 600; tries += 1) {
      if (child.exitCode !== null) throw new Error(`The server ended: ${talk}`);
      if (await fetch(`${server.address}/health/ready`).then((answer) => answer.ok, () => false)) return server;
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

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
