import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { endsWithFile } from './children.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The folder in which programs run. It doesn't contain your own `.env`. */
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The tests start hundreds of programs, so their modules are compiled only once. */
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

/** The environment variables of every program that a test starts. */
const OWN = { PATH: process.env.PATH ?? '', NODE_ENV: 'test', ...COMPILED }

/**
 * Runs one of our scripts with this Node. Its environment contains only `env` and the variables above, and its output may go to a
 * file.
 */
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
): Program => run('src/run.cjs', env, { args: [resolve(ROOT, program), ...args], ...options })

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

/** Thrown instead of ending the process, so that the code after `process.exit` doesn't run. */
class Exit extends Error {}

interface Ended {
  code: number
  output: string
}
/** The latest command. */
let latest: Promise<unknown> = Promise.resolve()
let count = 0

/**
 * Runs a command like `run`, but in this process. Most modules are loaded here, and loading them would take longer than most
 * commands. Use `run` if the command needs its own process, for example for signals.
 */
export async function command(
  script: string,
  env: Record<string, string> = {},
  { args = [] as string[], cwd = HERE } = {},
): Promise<Ended> {
  const file = resolve(ROOT, script)
  // A process reads its .env once. A copy of the project has its own modules, so run it in another process.
  if (existsSync(join(cwd, '.env')) || !file.startsWith(ROOT)) {
    const program = run(file, env, { args, cwd })
    return { code: Number(await program.exited), output: program.output() }
  }
  // Run one command at a time, because each changes this process.
  const ended = latest.then(() => runHere(file, { ...OWN, ...env }, args, cwd))
  latest = ended
  return ended
}

/** Runs a command with its own arguments, environment, folder, output and exit code, as if it had its own process. Never throws. */
async function runHere(
  file: string,
  env: Record<string, string>,
  args: string[],
  cwd: string,
): Promise<Ended> {
  const { argv, exit } = process
  const [usualEnv, usualCwd] = [{ ...process.env }, process.cwd()]
  const writes = [process.stdout, process.stderr].map((stream) => ({ stream, write: stream.write }))
  let output = ''
  let code: unknown
  for (const { stream } of writes)
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      if (code === undefined) output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      const done = rest.at(-1)
      if (typeof done === 'function') process.nextTick(done)
      return true
    }
  process.exit = (given) => {
    code ??= given ?? process.exitCode ?? 0
    throw new Exit()
  }
  process.argv = [process.execPath, file, ...args]
  process.chdir(cwd)
  replaceEnv(env)
  try {
    // The command's own file is evaluated again each time, but its imports are not.
    await import(`${pathToFileURL(file).href}?${++count}`)
    code ??= process.exitCode ?? 0
  } catch (error) {
    if (code === undefined) output += `${inspect(error)}\n`
    code ??= 1
  }
  replaceEnv(usualEnv)
  process.chdir(usualCwd)
  Object.assign(process, { argv, exit, exitCode: undefined })
  for (const { stream, write } of writes) stream.write = write
  return { code: Number(code), output }
}

function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
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

/** Resolves when `url` answers. Throws an error with the program's output if it ends before that. */
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

/** A worker in a separate process, which receives and sends messages. */
export function forkWorker(name: string, env: Record<string, string>): ChildProcess {
  const script = fileURLToPath(new URL(name, import.meta.url))
  return endsWithFile(fork(script, { cwd: ROOT, env: { ...OWN, ...env } }))
}
