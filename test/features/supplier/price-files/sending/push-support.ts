import { join } from 'node:path'
import { openSqlite } from '../../../../../src/connect/stores.ts'
import { turnKey } from '../../../../../src/features/supplier/price-files/turns.ts'
import { command, type Program, run } from '../../../../support/process.ts'
import type { SupplierPlatform } from '../support.ts'
import { CHOICE } from './service-support.ts'

/** A price file without a problem, and how it is read. */
export const GOOD = 'code,price\nA1,1.50\nA2,12\n'
export const AS_CHOSEN = ['--choice', JSON.stringify(CHOICE)]

export const SCRIPT = 'src/features/supplier/price-files/cli-push-catalogue.ts'

/** Runs `push-catalogue`, in a folder without an `.env`. */
export const push = (
  { env, dir }: SupplierPlatform,
  args: string[],
  more?: Record<string, string>,
): Program => run(SCRIPT, { ...env, ...more }, { args, cwd: dir })

/** Runs `push-catalogue` to its end. */
export const pushed = ({ env, dir }: SupplierPlatform, args: string[], more?: Record<string, string>) =>
  command(SCRIPT, { ...env, ...more }, { args, cwd: dir })

/** The arguments with the code that a run of them prints, by which a person accepts what it shows; without one if it need not stop. */
export async function accepted(platform: SupplierPlatform, args: string[], more?: Record<string, string>) {
  const { output } = await pushed(platform, [...args, '--dry-run'], more)
  const [, code] = /--accept (\w{12})/.exec(output) ?? []
  return code === undefined ? args : [...args, '--accept', code]
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

/** Ends the turns of killed processes with files in this folder: the next process would wait 10 s for them. */
export async function endTurns(dataDir: string): Promise<void> {
  const store = openSqlite({ file: join(dataDir, 'store.sqlite') })
  for (const { key } of await store.ofOwner(turnKey('').owner)) await store.delete(key)
  await store.close()
}
