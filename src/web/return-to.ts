/**
 * The value if it is a path on this site, else null: not another origin (`//host`, `/\host`), no scheme, no
 * control characters, which browsers drop before they look (RFC 9700 section 4.11).
 */
export function localPath(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 2048) return null
  if (!value.startsWith('/') || value.includes('\\') || /\p{Cc}/u.test(value)) return null
  const url = URL.parse(value, 'http://here.invalid')
  // The path that comes out counts, not the one that went in: "/.//host" becomes "//host".
  return url?.origin === 'http://here.invalid' && !url.pathname.startsWith('//')
    ? url.pathname + url.search
    : null
}
