import type { Response } from 'express'
import * as z from 'zod'

export const notFound = (res: Response) => void res.status(404).json({ error: 'not_found' })

/** The parsed body; when it is invalid, answers 400 and returns undefined. */
export function parseBody<T>(
  res: Response,
  schema: z.ZodType<T>,
  body: unknown,
  error = 'invalid_body',
): T | undefined {
  const parsed = schema.safeParse(body)
  if (!parsed.success) res.status(400).json({ error, message: z.prettifyError(parsed.error) })
  return parsed.data
}
