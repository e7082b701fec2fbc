import type * as z from 'zod'

/** Says in plain English what is wrong with a value, such as `the store: latitude must be a number.` */
export function explain(issue: z.core.$ZodIssue, label: string): string {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return path === '' ? `${label} ${problem(issue)}.` : `${label}: ${path} ${problem(issue)}.`
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

function problem(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${issue.values
        .map(String)
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not in the expected format'
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum)
    default:
      return 'is not valid'
  }
}

const FORMATS: Record<string, string> = {
  regex: 'must be a time such as 07:00',
  date: 'must be a date such as 2026-01-26',
}

function bound(origin: string, words: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${words} ${limit} characters`
  if (origin === 'array') return `must have ${words} ${limit} elements`
  return `must be ${words} ${limit}`
}
