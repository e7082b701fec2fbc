/** Values that are kept, at most, and the longest key of one: callers choose the keys. */
const MOST_KNOWN = 30_000
const MOST_LENGTH = 250
const SLOTS = 65_536

/**
 * The values of keys that `find` looks up, each once; undefined for a key that it does not find. What is asked for a
 * second time within some ten thousand others is kept: what nobody asks for again would be garbage that has grown old.
 */
export function remembered<T>(
  find: (keys: string[]) => Map<string, T>,
): (keys: string[]) => (T | undefined)[] {
  const known = new Map<string, T>()
  const askedLately = doorkeeper()
  return (keys) => {
    const values = keys.map((key) => known.get(key))
    if (!values.includes(undefined)) return values
    const found = find([...new Set(keys.filter((_, at) => values[at] === undefined))])
    if (known.size + found.size > MOST_KNOWN) known.clear()
    for (const [key, value] of found) if (key.length <= MOST_LENGTH && askedLately(key)) known.set(key, value)
    return values.map((value, at) => (value === undefined ? found.get(keys[at] ?? '') : value))
  }
}

/** Whether a key was asked for lately, as far as a table of hashes tells: of two that share a place, the last is known. */
function doorkeeper(): (key: string) => boolean {
  const asked = new Int32Array(SLOTS)
  return (key) => {
    let hash = 1
    for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1)
    const again = asked[slot] === hash
    asked[slot] = hash
    return again
  }
}
