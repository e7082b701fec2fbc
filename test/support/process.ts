import { type ChildProcess, fork, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The tests start some hundred programs; what they load is compiled once. */
const { NODE_COMPILE_CACHE: cache } = process.env
const COMPILED = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }

export interface Program {
  child: ChildProcess
  /** Everything it has printed so far. */
  output(): string
  /** Resolves to the exit code, or the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>
  kill(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** Runs one of our scripts by this Node, with nothing of ours in its environment but `env`; its output may go to a file. */
export function run(
  script: string,
  env: Record<string, string> = {},
  { stdout = '', args = [] as string[], cwd = ROOT } = {},
): Program {
  const child = spawn(process.execPath, [resolve(ROOT, script), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env },
    stdio: ['ignore', stdout ? openSync(stdout, 'a') : 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code ?? 0))
  })
  return {
    child,
    exited,
    output: () => output,
    kill: (signal = 'SIGKILL') => {
      child.kill(signal)
      return exited
    },
  }
}

/** Runs the app, by default `main.ts`, and resolves when it answers. */
export async function runApp(
  env: Record<string, string>,
  script = 'src/main.ts',
): Promise<Program & { url: string }> {
  const program = run(script, env)
  const url = `http://localhost:${env.PORT}`
  await answering(`${url}/health/live`, program)
  return { ...program, url }
}

/** Resolves when `url` answers. Throws with the program's output when it ends before that. */
export async function answering(url: string, program: Program): Promise<void> {
  let ended = false
  void program.exited.then(() => {
    ended = true
  })
  for (;;) {
    const answer = await fetch(url).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer) return
    if (ended) throw new Error(`ended before it answered:\n${program.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A worker of `test/support` in a process of its own, spoken to by messages. */
export function forkWorker(name: string, env: Record<string, string>): ChildProcess {
  const script = fileURLToPath(new URL(name, import.meta.url))
  return fork(script, { cwd: ROOT, env: { PATH: process.env.PATH ?? '', ...env } })
}
