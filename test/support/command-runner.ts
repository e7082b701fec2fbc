/**
 * Runs commands of ours one after another in one process, for `command` in process.ts: loading a program costs more than
 * what most commands do. Each has its own arguments, environment, folder, output and exit code, and has to end by itself.
 */
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

export interface Asked {
  script: string
  args: string[]
  env: Record<string, string>
  cwd: string
}
export interface Answered {
  code: number
  output: string
  /** Whether the process of the command has ended as well. */
  last: boolean
}

/** What this process itself has open. */
const OWN = /^(PipeWrap|TTYWrap|FSReq\w+|Immediate)$/

/** Stands for the end of the process: what follows `process.exit` is not run. */
class Exit extends Error {}

let asked = 0
let output = ''
let running = false
let imported = false

process.setMaxListeners(0)
for (const stream of [process.stdout, process.stderr]) {
  stream.setMaxListeners(0)
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done as () => void)
    return true
  }) as typeof stream.write
}

/** The command has ended; with `last`, so does this process, and the next command gets one of its own. */
function end(code: unknown, last = false): void {
  if (!running) return
  running = false
  process.channel?.ref()
  const answered: Answered = { code: Number(code ?? 0), output, last }
  process.send?.(answered, () => last && process.disconnect?.())
}

process.exit = ((code?: number) => {
  // What the command leaves open must not reach the next one.
  const left = process.getActiveResourcesInfo().filter((name) => !OWN.test(name))
  end(code ?? process.exitCode, left.length > 0)
  throw new Exit()
}) as typeof process.exit

function onError(error: unknown): void {
  if (error instanceof Exit || !running) return
  output += `${inspect(error)}\n`
  end(1, true)
}
process.on('uncaughtException', onError)
process.on('unhandledRejection', onError)
// Nothing is left to do: the process of a single command would end here.
process.on('beforeExit', () => end(imported ? process.exitCode : 13))
const { reallyExit } = process as unknown as { reallyExit(code: number): never }
process.on('disconnect', () => reallyExit.call(process, 0))

process.on('message', ({ script, args, env, cwd }: Asked) => {
  process.chdir(cwd)
  process.argv = [process.execPath, script, ...args]
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  output = ''
  running = true
  imported = false
  process.channel?.unref()
  // Evaluated anew for each command; what it imports is not.
  import(`${pathToFileURL(script).href}?${++asked}`).then(() => {
    imported = true
  }, onError)
})
