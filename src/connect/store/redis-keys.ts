/** The names of keys in Redis. */
import { checkKey, type Key } from './store.ts'

/**
 * Returns a unique name for a key, whatever characters it contains. The braces are a Redis Cluster hash tag, so that all keys of an
 * owner share a slot.
 */
export function keyName(key: Key): string {
  checkKey(key)
  return `${groupName(key.kind, key.owner)}:${encode(key.id)}`
}

/** The name of the sorted set of the ids of permanent values, by their places. */
export function groupName(kind: string, owner: string): string {
  return `connect:${kind}:{${encode(owner)}}`
}

/** A pattern (https://redis.io/docs/latest/commands/keys) that matches all keys of an owner, and perhaps a few other keys. */
export const ownerPattern = (owner: string) => `${groupName('*', owner)}:*`

/** Most ids need no encoding, and this check is faster than encoding. */
function encode(text: string): string {
  return /^[\w.-]*$/.test(text) ? text : encodeURIComponent(text)
}

/** The inverse of `keyName`, and of `groupName` with an empty `id`. Null if the name does not belong to this app. */
export function parseName(name: string): Key | null {
  const match = /^connect:([a-z-]+):\{([^{}:]*)\}(?::([^{}:]*))?$/.exec(name)
  if (!match) return null
  const [, kind = '', owner = '', id = ''] = match
  return { kind, owner: decodeURIComponent(owner), id: decodeURIComponent(id) }
}
