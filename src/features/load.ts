import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FeatureSettings } from '../config.ts'
import { platform } from '../connect/index.ts'
import type { Feature } from '../web/kit.ts'

/** A feature with the name of its folder. */
export interface NamedFeature extends Feature {
  readonly name: string
}

const FOLDER = new URL('./', import.meta.url)

/** The names of the features' folders that have this file, in alphabetical order. */
export function foldersWith(file: string): string[] {
  const folders = readdirSync(fileURLToPath(FOLDER), { withFileTypes: true }).filter((it) => it.isDirectory())
  const names = folders.map(({ name }) => name).sort()
  return names.filter((name) => existsSync(new URL(`${name}/${file}`, FOLDER)))
}

/** Imports a file of a feature. Throws one line that names the file and says what is wrong. */
async function load(name: string, file: string) {
  return import(new URL(`${name}/${file}`, FOLDER).href).catch((error: Error) => {
    throw new Error(`src/features/${name}/${file} cannot be loaded: ${error.message.split('\n')[0]}`)
  })
}

/**
 * Loads the features: each folder with an `index.ts`, in their order. Throws one line that names the file if one cannot be
 * loaded, is no feature, or needs a feature that is not there.
 */
export async function loadFeatures(): Promise<NamedFeature[]> {
  const names = foldersWith('index.ts')
  const loaded = await Promise.all(names.map((name) => load(name, 'index.ts')))
  const features = loaded.map(({ default: feature }, index): NamedFeature => {
    const name = names[index] ?? ''
    if (typeof feature?.title !== 'string' || typeof feature.order !== 'number')
      throw new Error(
        `src/features/${name}/index.ts must export a feature as its default: title, order, create`,
      )
    const missing = feature.needs?.find((need: string) => !names.includes(need))
    if (missing !== undefined)
      throw new Error(`src/features/${name}/index.ts needs the feature ${missing}, which is not there`)
    return { name, ...feature }
  })
  return features.sort((a, b) => a.order - b.order)
}

/** Loads the default exports of the files with this name beside the features' `index.ts`, by the name of the feature. */
export async function loadTools<Tool>(file: string): Promise<Map<string, Tool>> {
  const names = foldersWith(file)
  const loaded = await Promise.all(names.map((name) => load(name, file)))
  return new Map(loaded.map(({ default: tool }, index) => [names[index] ?? '', tool]))
}

/** What the features add to the config: their settings, and the scopes that they need. */
export function featureOptions(features: readonly NamedFeature[]): {
  features: FeatureSettings
  scopes: string[]
} {
  const groups = features.flatMap(({ name, settings }) => (settings ? [[name, settings] as const] : []))
  const needed = new Set(features.flatMap(({ scopes = {} }) => Object.keys(scopes)))
  // An app whose features need none asks for those that the platform documents: it can connect nevertheless.
  return {
    features: Object.fromEntries(groups),
    scopes: needed.size > 0 ? [...needed].sort() : [...platform.scopes],
  }
}
