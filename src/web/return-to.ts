import type { Request } from 'express'

/**
 * Returns the value if it is a path on this site, else null, to prevent open redirects (RFC 9700 section 4.11). It refuses
 * another origin (`//host`, `/\host`), a scheme, and control characters, which browsers ignore.
 */
export function localPath(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (!value.startsWith('/') || value.includes('\\') || /\p{Cc}/u.test(value)) return null
  const url = URL.parse(value, 'http://here.invalid')
  // Check the normalized path: "/.//host" becomes "//host".
  if (url?.origin !== 'http://here.invalid' || url.pathname.startsWith('//')) return null
  const path = url.pathname + url.search
  return path.length <= 2048 ? path : null
}

/** The path in the address of a request, still encoded; in a mounted router, `req.path` is only the rest of it. */
export const pathOf = ({ originalUrl }: Request): string => originalUrl.split('?', 1)[0] ?? ''
