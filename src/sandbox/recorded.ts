import * as z from 'zod'

const refusal = z.object({
  status: z.number().int().min(400).max(499),
  error: z.string().optional(),
})
/** A scheme, and names of parameters. */
const challenge = z
  .string()
  .regex(/^[A-Za-z][A-Za-z_ ,-]{0,199}$/, 'must be a scheme and names of parameters')
const challengedRefusal = refusal.extend({ challenge: challenge.optional() })
const headerName = z.string().regex(/^[a-z-]{1,60}$/, 'must be the name of a header')
const fields = z.record(z.string(), z.string())

/**
 * How a platform answers, as it was recorded: names of fields, types and statuses. What is absent
 * stays as the sandbox does it.
 */
export const recordedSchema = z.object({
  token: z.object({ fields, expiresIn: z.number().int().min(1).optional() }).optional(),
  refresh: z.object({ refreshToken: z.enum(['none', 'same', 'new']) }).optional(),
  oldRefreshToken: z.enum(['accepted', 'refused']).optional(),
  usedCode: refusal.optional(),
  revokedRefreshToken: refusal.optional(),
  invalidToken: challengedRefusal.optional(),
  missingScope: challengedRefusal.optional(),
  notFound: refusal.optional(),
  listWrapper: z.string().optional(),
  listTotal: z.boolean().optional(),
  rateLimitHeaders: z.array(headerName).optional(),
  /** By the path of the list. */
  records: z.record(z.string(), fields).default({}),
})
export type Recorded = z.infer<typeof recordedSchema>

/** Reads the recording in a report. Throws an error that says what is wrong with the report. */
export function readRecorded(json: string): Recorded {
  let report: unknown
  try {
    report = JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch {
    throw new Error('is not JSON')
  }
  const { recording } = Object(report)
  if (recording === undefined) throw new Error('has no recording of how a platform answers')
  const parsed = recordedSchema.safeParse(recording)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  // A name may be any text, and this one goes to a terminal.
  const place = ['recording', ...(issue?.path ?? []).map((name) => JSON.stringify(name).slice(1, -1))].join(
    '.',
  )
  throw new Error(`has a recording that cannot be read: ${place}: ${issue?.message}`)
}

const SAMPLES: Record<string, unknown> = {
  string: 'sample',
  number: 1,
  boolean: true,
  null: null,
  array: [],
  object: {},
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** A record with these fields and types: values of the sandbox where they fit, and samples otherwise. */
export function shaped(record: object, types: Readonly<Record<string, string>>): Record<string, unknown> {
  const values = Object.entries(types).map(([name, type]) => {
    const own: unknown = (record as Record<string, unknown>)[name]
    const wanted = type.split(' or ')
    if (wanted.includes(typeOf(own))) return [name, own]
    if (wanted.includes('string') && typeof own === 'number') return [name, String(own)]
    return [name, SAMPLES[wanted[0] ?? ''] ?? null]
  })
  return Object.fromEntries(values)
}
