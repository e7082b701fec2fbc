import type * as z from 'zod'

/** The deepest nesting of JSON from outside. A recursive function, such as `JSON.stringify`, runs out of stack at some depth. */
const MAX_DEPTH = 100

/** Whether a JSON text is nested more deeply than `levels`, judged by its brackets. */
export function isTooDeep(text: string, levels = MAX_DEPTH): boolean {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length && depth <= levels; at++) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    else if (character === '\\') at++
    else if (!isQuoted && (character === '[' || character === '{')) depth++
    else if (!isQuoted && (character === ']' || character === '}')) depth--
  }
  return depth > levels
}

/** Parses JSON; undefined if the text is not JSON, or nested more deeply than `levels`. */
export function parseJson(text: string, levels = MAX_DEPTH): unknown {
  try {
    return isTooDeep(text, levels) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first field that fails validation, as a path such as `0.name`. */
export function fieldOf(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the whole answer'
}
