import type { Manifest } from './project.ts'

/** The address of a starter as `package.json` may keep it: without a user name, a password or a token. */
export const withoutCredentials = (address: string): string => address.replace(/^(https?:\/\/)[^/]*@/i, '$1')

/** The names of all packages of a `package.json`. */
export const packagesOf = ({ dependencies, devDependencies }: Manifest): string[] =>
  Object.keys({ ...dependencies, ...devDependencies })

/**
 * Returns the `package.json` of an updated product. It merges three of them: that of the version that the product began with, the
 * product's, and that of the new version. It merges key by key, so that neighbouring keys never conflict. If both sides have
 * changed a value, or if the product has deleted a key, the product decides. Packages are an exception: the result has the packages
 * of all three, because it is only known later which of them are used.
 */
export function updatedManifest(base: Manifest, ours: Manifest, theirs: Manifest): Json {
  const withAll = (manifest: Manifest) => {
    const names = packagesOf(manifest)
    const missing = (packages: Record<string, string>) =>
      Object.fromEntries(Object.entries(packages).filter(([name]) => !names.includes(name)))
    const dependencies = { ...missing(base.dependencies), ...manifest.dependencies }
    const devDependencies = { ...missing(base.devDependencies), ...manifest.devDependencies }
    return { ...manifest, dependencies, devDependencies }
  }
  return merge({ ...base }, withAll(ours), withAll(theirs))
}

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function merge(base: Json, ours: Json, theirs: Json): Json {
  const merged = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].map((key) => {
    const [b, o, t] = [base[key], ours[key], theirs[key]]
    if (isObject(o) && isObject(t)) return [key, merge(isObject(b) ? b : {}, o, t)]
    return [key, JSON.stringify(o) === JSON.stringify(b) ? t : o]
  })
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined))
}
