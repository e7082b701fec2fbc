import { createCatalogues } from '../../../../../src/features/catalogues/catalogues.ts'
import { command, type Program, run } from '../../../../support/process.ts'
import { openAccess, type Platform, startPlatform } from '../../first-party/support.ts'
import { FAST, itemsIn } from './support.ts'

const SCRIPT = 'src/features/supplier/catalogue-files/cli-push-catalogue.ts'

export const openPlatform = (): Promise<Platform> => startPlatform({ features: FAST })

/** Runs `push-catalogue`, in a folder without an `.env`. */
export const push = ({ env, dir }: Platform, args: string[], more?: Record<string, string>): Program =>
  run(SCRIPT, { ...env, ...more }, { args, cwd: dir })

/** Runs `push-catalogue` to its end. */
export const pushed = ({ env, dir }: Platform, args: string[], more?: Record<string, string>) =>
  command(SCRIPT, { ...env, ...more }, { args, cwd: dir })

/** Resolves when the program has printed this. Throws if it ends before that. */
export async function printed(program: Program, words: string): Promise<void> {
  const found = () => program.output().includes(words)
  await new Promise<void>((resolve, reject) => {
    const check = () => found() && resolve()
    program.child.stdout?.on('data', check)
    void program.exited.then(() =>
      found() ? resolve() : reject(new Error(`ended before it printed ${words}:\n${program.output()}`)),
    )
    check()
  })
}

/** The items of the supplier's catalogue with this name. */
export async function itemsNamed({ url, apiUrl }: Platform, name: string): Promise<Map<string, object>> {
  const { api, source, close } = openAccess(apiUrl)
  const { items } = await createCatalogues(api).list(source, { top: 100 })
  await close()
  return itemsIn(url, items.find((catalogue) => catalogue.name === name)?.id ?? '')
}
