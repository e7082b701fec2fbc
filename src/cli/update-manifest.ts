type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Merges three versions of a `package.json` key by key, so that neighbouring keys never conflict: the common base, the product's
 * version, and the new version. If both sides changed a value, or the product deleted a key, the product's version wins.
 */
export function mergeKeys(base: object, ours: object, theirs: object): Json {
  const [before, own, other]: Json[] = [{ ...base }, { ...ours }, { ...theirs }]
  const merged = Object.keys({ ...own, ...other }).map((key) => {
    const [b, o, t] = [before?.[key], own?.[key], other?.[key]]
    if (isObject(o) && isObject(t)) return [key, mergeKeys(isObject(b) ? b : {}, o, t)]
    return [key, JSON.stringify(o) === JSON.stringify(b) ? t : o]
  })
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined))
}
