import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { command, type Program, run } from '../../support/process.ts'
import { layoutOf } from './read-support.ts'
import type { SupplierPlatform } from './support.ts'

/** A price file without a problem. */
export const GOOD = 'code,name,price\nA1,Nail,1.50\nA2,Board,12\n'

export const SCRIPT = 'src/features/price-files/cli-push-catalogue.ts'

/** Runs `push-catalogue`, in a folder without an `.env`. */
export async function push(
  { env, dir }: SupplierPlatform,
  args: string[],
  more: Record<string, string> = {},
): Promise<Program> {
  return run(SCRIPT, { ...env, ...more }, { args: await withLayout(args), cwd: dir })
}

/** Runs `push-catalogue` to its end. */
export async function pushed({ env, dir }: SupplierPlatform, args: string[], more?: Record<string, string>) {
  return command(SCRIPT, { ...env, ...more }, { args: await withLayout(args), cwd: dir })
}

/** The arguments with a layout for the file, whose first lines say all that is to be confirmed, unless they name one. */
export async function withLayout(args: string[]): Promise<string[]> {
  const [file = '', ...options] = args
  if (options.includes('--layout') || !existsSync(file)) return args
  const lines = readFileSync(file, 'utf8').split('\n', 3)
  const path = `${file}.layout.json`
  writeFileSync(path, JSON.stringify(await layoutOf(lines.join('\n'))))
  return [file, ...options, '--layout', path]
}

/** Resolves when the program has printed this. Throws if it ends before that. */
export async function printed(program: Program, words: string | RegExp): Promise<void> {
  const found = () => new RegExp(words).test(program.output())
  await new Promise<void>((resolve, reject) => {
    const check = () => found() && resolve()
    program.child.stdout?.on('data', check)
    program.child.stderr?.on('data', check)
    void program.exited.then(() =>
      found() ? resolve() : reject(new Error(`ended before it printed ${words}:\n${program.output()}`)),
    )
    check()
  })
}
