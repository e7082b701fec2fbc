import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, type Program, run } from '../../support/process.ts'
import type { SupplierPlatform } from './support.ts'

/** A price file without a problem. */
export const GOOD = 'code,name,price\nA1,Nail,1.50\nA2,Board,12\n'

export const SCRIPT = 'src/features/price-files/cli-push-catalogue.ts'

/** Runs `push-catalogue`, in a folder without an `.env`. */
export function push(platform: SupplierPlatform, args: string[], env: Record<string, string> = {}): Program {
  return run(SCRIPT, { ...platform.env, ...env }, { args: withLayout(args), cwd: platform.dir })
}

/** The arguments with a layout for the file, whose headings are the names of fields, unless they name one. */
export function withLayout(args: string[]): string[] {
  const [file = '', ...options] = args
  if (options.includes('--layout') || !existsSync(file)) return args
  const path = `${file}.layout.json`
  writeFileSync(
    path,
    JSON.stringify(layoutFor(readFileSync(file, 'utf8').split('\n', 1)[0]?.split(',') ?? [])),
  )
  return [file, ...options, '--layout', path]
}

const layoutFor = (headings: string[]) => ({
  sheets: [
    { name: '', headingsRow: 1, decimal: 'point', columns: headings.map((use) => ({ heading: use, use })) },
  ],
  tax: 0,
  currency: 'AUD',
  audience: 'everyone',
  otherSheets: [],
  texts: [],
  confirmedBy: 'sam',
  confirmedAt: '2026-07-01T00:00:00.000Z',
})

/** Runs `push-catalogue` to its end. */
export function pushed(platform: SupplierPlatform, args: string[], env?: Record<string, string>) {
  return command(SCRIPT, { ...platform.env, ...env }, { args: withLayout(args), cwd: platform.dir })
}

/** Writes a file into the platform's folder; returns its path. */
export function fileIn(platform: SupplierPlatform, content: string | Buffer, name = 'prices.csv'): string {
  const path = join(platform.dir, name)
  writeFileSync(path, content)
  return path
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
