import * as z from 'zod'

const address = z.url({ protocol: /^https?$/ })
const text = z.string().min(1)

const optionsSchema = z.object({
  store: z.object({ get: z.function(), compareAndSet: z.function() }),
  keys: z
    .array(
      z.object({
        id: text,
        secret: z.instanceof(Uint8Array).refine(({ length }) => length === 32, 'must have 32 bytes'),
      }),
    )
    .min(1),
  platform: z.object({ name: text }),
  client: z.object({
    appUrl: address,
    authUrl: address,
    apiUrl: address,
    clientId: text,
    clientSecret: text,
    scopes: z.array(z.string()),
    authorizePath: text,
  }),
})

/**
 * Throws a `TypeError` that names the option and repeats no value, which may be a secret. A program in JavaScript has no
 * compiler to find it: without this check, a missing secret would show after the user's consent.
 */
export function checkOptions(options: unknown): void {
  const { error } = optionsSchema.safeParse(options)
  if (!error) return
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`)
  throw new TypeError(`createConnect: ${problems.join('; ')}`)
}
