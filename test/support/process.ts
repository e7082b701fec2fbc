import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endsWithFile } from './children.ts'
import type { Answered, Asked } from './command-runner.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Where programs run: a folder without the `.env` that the owner of the project may have. */
const HERE = fileURLToPath(new URL('.', import.meta.url))

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

/** What every program of a test has in its environment. */
const OWN = { PATH: process.env.PATH ?? '', NODE_ENV: 'test', ...COMPILED }

/** Runs one of our scripts by this Node, with nothing of ours in its environment but `env`; its output may go to a file. */
export function run(
  script: string,
  env: Record<string, string> = {},
  { stdout = '', args = [] as string[], cwd = HERE } = {},
): Program {
  return programOf(
    spawn(process.execPath, [resolve(ROOT, script), ...args], {
      cwd,
      env: { ...OWN, ...env },
      stdio: ['ignore', stdout ? openSync(stdout, 'a') : 'pipe', 'pipe'],
    }),
  )
}

/** Runs one of our programs as `package.json` does, such as `src/main.ts`. */
export const runProgram = (
  program: string,
  env?: Record<string, string>,
  { args = [] as string[], ...options }: Parameters<typeof run>[2] = {},
): Program => run('src/start.cjs', env, { args: [resolve(ROOT, program), ...args], ...options })

/** A process with what it prints. It ends with the file of tests that started it, at the latest, by `signal`. */
export function programOf(child: ChildProcess, signal?: NodeJS.Signals): Program {
  endsWithFile(child, signal)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
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

/** Processes that have run commands and can run more. */
const runners: ChildProcess[] = []

/**
 * Runs a command of ours that ends by itself, like `run`, but in a process that has its modules loaded from the command
 * before it: that takes a tenth of the time. For what needs a process of its own, such as signals, there is `run`.
 */
export async function command(
  script: string,
  env: Record<string, string> = {},
  { args = [] as string[], cwd = HERE } = {},
): Promise<{ code: number; output: string }> {
  // A process reads its .env once.
  if (existsSync(join(cwd, '.env'))) {
    const program = run(script, env, { args, cwd })
    return { code: Number(await program.exited), output: program.output() }
  }
  const runner = runners.pop() ?? forkHere('command-runner.ts', {})
  runner.ref()
  runner.channel?.ref()
  const asked: Asked = { script: resolve(ROOT, script), args, env: { ...OWN, ...env }, cwd }
  const { code, output, last } = await new Promise<Answered>((answer, reject) => {
    const ended = (code: number | null) => reject(new Error(`the runner of commands ended with ${code}`))
    runner.once('exit', ended)
    runner.once('message', (answered: Answered) => {
      runner.off('exit', ended)
      answer(answered)
    })
    runner.send(asked)
  })
  // It does not keep the tests running, and ends when they do.
  runner.unref()
  runner.channel?.unref()
  if (!last && runners.length < 2) runners.push(runner)
  else if (runner.connected) runner.disconnect()
  return { code, output }
}

/** Runs the app, or another program that serves it, and resolves when it answers. */
export async function runApp(
  env: Record<string, string>,
  script = 'src/main.ts',
): Promise<Program & { url: string }> {
  const program = runProgram(script, env)
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
export const forkWorker = (name: string, env: Record<string, string>): ChildProcess =>
  endsWithFile(forkHere(name, env))

function forkHere(name: string, env: Record<string, string>): ChildProcess {
  const script = fileURLToPath(new URL(name, import.meta.url))
  return fork(script, { cwd: ROOT, env: { ...OWN, ...env } })
}
