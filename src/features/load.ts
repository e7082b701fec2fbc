import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { platform } from '../connect/index.ts'
import type { Feature, ToolOf, Tools } from '../web/feature-api.ts'
import { featureFolders, nameOf } from './folders.ts'

/** A feature with the name of its folder. */
export interface NamedFeature extends Feature {
  readonly name: string
  /** Relative to `src/features`: `leads`, `GROUP/NAME`. */
  readonly folder: string
}

const ROOT = new URL('../../', import.meta.url)

/** The folders of the features, in alphabetical order. */
const folders = featureFolders(
  globSync('src/features/{*,*/*}/index.ts', { cwd: fileURLToPath(ROOT) })
    .map((path) => path.replaceAll('\\', '/'))
    .sort(),
)
const names = folders.map(nameOf)

/**
 * Loads all features, including those in groups, and sorts them by their `order`. If a feature can't be loaded, isn't a feature, or
 * needs a missing feature, throws a one-line error that names the file.
 */
export async function loadFeatures(): Promise<NamedFeature[]> {
  const features = await Promise.all(folders.map(load))
  return features.sort((a, b) => a.order - b.order)
}

async function load(folder: string): Promise<NamedFeature> {
  const file = `src/features/${folder}/index.ts`
  const { default: feature } = await import(new URL(file, ROOT).href).catch((error: Error) => {
    throw new Error(`${file} cannot be loaded: ${error.message.split('\n')[0]}`)
  })
  if (typeof feature?.title !== 'string' || typeof feature.order !== 'number')
    throw new Error(`${file} must export a feature as its default: title, order, create`)
  const missing = feature.needs?.find((need: string) => !names.includes(need))
  if (missing !== undefined) throw new Error(`${file} needs the feature ${missing}, which is not there`)
  return { name: nameOf(folder), folder, ...feature }
}

/** Imports the features' modules for a tool, such as `check`, by the name of the feature. */
export async function loadTools<Name extends keyof Tools>(name: Name): Promise<Map<string, ToolOf<Name>>> {
  const tools = (await loadFeatures()).map(async (feature) => {
    const module = await feature[name]?.()
    return module ? ([[feature.name, module.default]] as const) : []
  })
  return new Map((await Promise.all(tools)).flat())
}

/** The features' part of the config: their settings, and the scopes that they need. */
export function featureOptions(features: readonly NamedFeature[]): {
  features: Readonly<Record<string, NonNullable<Feature['settings']>>>
  scopes: string[]
} {
  const groups = features.flatMap(({ name, settings }) => (settings ? [[name, settings] as const] : []))
  const needed = new Set(features.flatMap(({ scopes = {} }) => Object.keys(scopes)))
  // If no feature needs a scope, the app asks for the platform's documented scopes, so that users can still connect.
  return {
    features: Object.fromEntries(groups),
    scopes: needed.size > 0 ? [...needed].sort() : Object.values(platform.scopes),
  }
}
