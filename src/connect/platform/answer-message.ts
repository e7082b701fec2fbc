import { isWebPage } from './http.ts'
import { parseJson } from './json.ts'

/** The longest message, in characters. */
const MAX_MESSAGE = 500
/** How many values of an answer are read, because an answer may contain any number. */
const MAX_TEXTS = 50
/** Names of JSON members whose values may repeat a secret of the request. */
const SECRET_NAME = /authorization|cookie|token|secret|password|key$/i
/** Credentials as requests send them: a scheme and a value (RFC 9110 section 11.4). */
const CREDENTIALS = /\b(bearer|basic|digest)\s+[^\s,;"']+/gi

/**
 * Returns the readable message of an answer. For JSON, these are its texts, numbers and booleans with their names, such as `error:
 * invalid_item; message: items.17`. It includes them all, because the specification does not show the format of an error. For a web
 * page, returns an empty text. The result has at most 500 characters. It leaves out `secrets`, members
 * with names such as `token`, and what follows `Bearer`, `Basic` or `Digest`.
 */
export function messageIn(text: string, secrets: readonly string[]): string {
  const found: string[] = []
  const read = (value: unknown, path: string): void => {
    if (found.length >= MAX_TEXTS) return
    if (['string', 'number', 'boolean'].includes(typeof value)) found.push(`${path}: ${value}`)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value))
        if (!SECRET_NAME.test(name)) read(member, path === '' ? name : `${path}.${name}`)
  }
  const json = parseJson(text)
  if (json !== undefined) read(json, '')
  else if (!isWebPage(text)) found.push(text.slice(0, 4 * MAX_MESSAGE))
  return secrets
    .reduce((message, secret) => message.replaceAll(secret, '…'), found.join('; '))
    .replace(CREDENTIALS, '$1 …')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE)
    .toWellFormed()
}
