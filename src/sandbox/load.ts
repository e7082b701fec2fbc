import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SandboxFeature } from './feature.ts'

/** The simulated part of a feature, with the name of its folder. */
export interface NamedSandboxFeature extends SandboxFeature {
  readonly name: string
}

const ROOT = new URL('../../', import.meta.url)

/**
 * Loads simulated features in alphabetical order: folders of `features` with an `index.ts`, even in a group. If a file cannot be
 * loaded, or does not export a feature of the sandbox, throws a one-line error that names the file.
 */
export async function loadSandboxFeatures(): Promise<NamedSandboxFeature[]> {
  const files = globSync('src/sandbox/features/{*,*/*}/index.ts', { cwd: fileURLToPath(ROOT) })
  const features = await Promise.all(files.map((file) => load(file.replaceAll('\\', '/'))))
  return features.sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

async function load(file: string): Promise<NamedSandboxFeature> {
  const loaded = await import(new URL(file, ROOT).href).catch((error: Error) => {
    throw new Error(`${file} cannot be loaded: ${error.message.split('\n')[0]}`)
  })
  if (typeof loaded.default?.create !== 'function')
    throw new Error(`${file} must export a feature of the sandbox as its default: create`)
  return { name: basename(dirname(file)), ...loaded.default }
}
