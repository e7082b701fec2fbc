import type { Response } from 'express'
import * as z from 'zod'

export const notFound = (res: Response) => void res.status(404).json({ error: 'not_found' })

/** The problems of a body: each field with its rule. The schemas word the rules so that they follow the field's name. */
export const problemsOf = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'the body'} ${message}`).join('; ')

/** The error for a body that is not an object. */
export const NOT_AN_OBJECT = 'must be a JSON object'

/** Required text of at most `max` characters. */
export function requiredText(max: number) {
  const rule = `must be text of 1 to ${max} characters`
  return z.string(rule).min(1, rule).max(max, rule)
}

/** Returns the parsed body. If the body is invalid, answers 400 and returns undefined. */
export function parseBody<T>(
  res: Response,
  schema: z.ZodType<T>,
  body: unknown,
  error = 'invalid_body',
): T | undefined {
  const parsed = schema.safeParse(body)
  if (!parsed.success) res.status(400).json({ error, message: problemsOf(parsed.error) })
  return parsed.data
}
