import type * as z from 'zod'

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first field that fails validation, as a path such as `0.name`. */
export function fieldOf(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the whole answer'
}
