import { existsSync, readdirSync } from 'node:fs'
import type { SandboxFeature } from './feature.ts'

/** What is simulated of a feature, with the name of its folder. */
export interface NamedSandboxFeature extends SandboxFeature {
  readonly name: string
}

const FOLDER = new URL('./features/', import.meta.url)

/**
 * Loads what is simulated: each folder of `features` with an `index.ts`, in alphabetical order. Throws one line that names the
 * file if one cannot be loaded or has no such value.
 */
export async function loadSandboxFeatures(): Promise<NamedSandboxFeature[]> {
  const names = readdirSync(FOLDER).filter((name) => existsSync(new URL(`${name}/index.ts`, FOLDER)))
  return Promise.all(
    names.sort().map(async (name) => {
      const file = `src/sandbox/features/${name}/index.ts`
      const loaded = await import(new URL(`${name}/index.ts`, FOLDER).href).catch((error: Error) => {
        throw new Error(`${file} cannot be loaded: ${error.message.split('\n')[0]}`)
      })
      if (typeof loaded.default?.create !== 'function')
        throw new Error(`${file} must export a feature of the sandbox as its default: create`)
      return { name, ...loaded.default }
    }),
  )
}
