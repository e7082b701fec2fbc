import type * as z from 'zod'

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a JSON text may have a number of 16 digits or more. Some digits inside a string count as well. */
export const mayHaveLargeNumbers = (text: string): boolean => /[:,[\s]-?\d{16}/.test(text)

/**
 * Like `parseJson`, but an integer that is too large to be exact (above 2^53) becomes text: an id must not turn into that of
 * something else.
 */
export function parseJsonExactly(text: string): unknown {
  try {
    return mayHaveLargeNumbers(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
  } catch {
    return undefined
  }
}

function keepDigits(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value
}

/** The first field that fails validation, as a path such as `0.name`. */
export function fieldOf(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the whole answer'
}
