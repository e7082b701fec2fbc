type Json = unknown
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Merges two versions of an object that began as `base`, key by key, so that neighbouring keys never conflict. Where both sides
 * have changed a value, and where ours has deleted one, ours stays.
 */
export function mergeJson(
  base: Record<string, Json>,
  ours: object,
  theirs: Record<string, Json>,
): Record<string, Json> {
  const own: Record<string, Json> = { ...ours }
  const merged = [...new Set([...Object.keys(own), ...Object.keys(theirs)])].map((key) => {
    const [b, o, t] = [base[key], own[key], theirs[key]]
    if (isObject(o) && isObject(t)) return [key, mergeJson(isObject(b) ? b : {}, o, t)]
    return [key, JSON.stringify(o) === JSON.stringify(b) ? t : o]
  })
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined))
}
