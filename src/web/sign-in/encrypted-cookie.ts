import type { Request, Response } from 'express'
import type * as z from 'zod'
import { parseJson, type RecordCipher } from '../../connect/index.ts'
import { sessionCookie } from './session.ts'

/**
 * The most bytes for `Location` and all `Set-Cookie` headers of an answer. By default, nginx accepts 4 kB of headers
 * (`proxy_buffer_size`), and the other headers take less than 1 kB.
 */
const MAX_BYTES = 3_000
/** Room for the attributes of the cookie, and for the session cookie, which express-session adds later, in bytes. */
const REST_BYTES = 300

/** A value in a cookie of the browser. The server does not store it. */
export interface EncryptedCookie<T> {
  /** The value; null if there is none, or if it cannot be read. */
  read(req: Request): T | null
  /** Sets the cookie in an answer that redirects to `location`, if both fit. */
  write(res: Response, value: T, location: string): void
  clear(res: Response): void
}

/** The full name of a cookie of this app. */
export const cookieName = (baseUrl: string, name: string): string => `${sessionCookie(baseUrl)}-${name}`

/** The cookies of a request, each as `name=value`. */
export const cookiesOf = (req: Request): string[] => req.headers.cookie?.split('; ') ?? []

/**
 * A cookie whose value is encrypted JSON. The encryption is bound to `name`, so that other encrypted texts of this app are not
 * accepted. `ms`: its lifetime.
 */
export function encryptedCookie<T>(
  cipher: RecordCipher,
  baseUrl: string,
  { name, schema, ms }: { name: string; schema: z.ZodType<T>; ms: number },
): EncryptedCookie<T> {
  const purpose = `${name} cookie`
  const fullName = cookieName(baseUrl, name)
  const secure = baseUrl.startsWith('https:')
  const options = { httpOnly: true, sameSite: 'lax', secure, path: '/' } as const
  return {
    read(req) {
      const cookie = cookiesOf(req).find((each) => each.startsWith(`${fullName}=`))
      if (cookie === undefined) return null
      try {
        const text = cipher.decrypt(cookie.slice(fullName.length + 1), purpose)
        return schema.safeParse(parseJson(text)).data ?? null
      } catch {
        // Altered, or encrypted with a key that was removed.
        return null
      }
    },
    write(res, value, location) {
      const text = cipher.encrypt(JSON.stringify(value), purpose)
      const headers = [location, fullName, text, ...[res.get('Set-Cookie') ?? []].flat()]
      if (Buffer.byteLength(headers.join('')) + REST_BYTES > MAX_BYTES) return
      res.cookie(fullName, text, { ...options, maxAge: ms })
    },
    clear: (res) => void res.clearCookie(fullName, options),
  }
}
