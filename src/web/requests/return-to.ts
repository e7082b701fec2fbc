import type { Request } from 'express'

/**
 * Returns the normalized path and query if the value is a path on this site, of at most 2,048 characters; otherwise null. This
 * prevents open redirects (RFC 9700 section 4.11). It refuses another origin (`//host`, `/\host`), a scheme, and control
 * characters, because browsers ignore some of them.
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

/** The path of a request, still encoded. In a mounted router, `req.path` is only the part after the mount path. */
export const pathOf = ({ originalUrl }: Request): string => originalUrl.split('?', 1)[0] ?? ''
