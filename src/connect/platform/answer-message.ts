import { parseJson } from './json.ts'

/** How much of a message is kept, in characters. */
const MAX_MESSAGE = 500
/** How many texts of an answer are read, and how deep they may be. An answer may have any size and any depth. */
const MAX_TEXTS = 50
const MAX_DEPTH = 6
/** Names of JSON members whose values may repeat a secret of the request. */
const SECRET_NAME = /authorization|cookie|token|secret|password|key$/i
/** Credentials as requests send them: a scheme and a value (RFC 9110 section 11.4). */
const CREDENTIALS = /\b(bearer|basic|digest)\s+[^\s,;"']+/gi

/**
 * Returns what a JSON answer says to people: its texts and numbers, each with its name, such as
 * `error: invalid_item; message: items.17`. All of them count, because the specification does not show what an error looks like.
 * The result has at most 500 characters, and contains neither `secrets` nor other credentials. It is empty if the answer is not
 * JSON.
 */
export function messageIn(text: string, secrets: readonly string[]): string {
  const found: string[] = []
  const read = (value: unknown, path: string, depth: number): void => {
    if (found.length >= MAX_TEXTS || depth > MAX_DEPTH) return
    if (typeof value === 'string' || typeof value === 'number') found.push(`${path}: ${value}`)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value))
        if (!SECRET_NAME.test(name)) read(member, path === '' ? name : `${path}.${name}`, depth + 1)
  }
  read(parseJson(text), '', 0)
  return withoutSecrets(found.join('; '), secrets)
}

/** Returns the beginning of an answer, which need not be JSON: at most 500 characters, without what `messageIn` leaves out. */
export function beginningOf(text: string, secrets: readonly string[]): string {
  const isPublic = (name: string, value: unknown) => (SECRET_NAME.test(name) ? undefined : value)
  return withoutSecrets(JSON.stringify(parseJson(text), isPublic) ?? text, secrets)
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .reduce((message, secret) => message.replaceAll(secret, '…'), text)
    .replace(CREDENTIALS, '$1 …')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE)
    .toWellFormed()
}
