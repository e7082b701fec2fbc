/** The longest message of a price provider that is logged, in characters. */
const MAX_MESSAGE = 300
/** Pairs of a name and a value that may be a secret. */
const SECRETS =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|\w*[-_ ]?key|sig(?:nature)?|authorization|credentials?)["']?\s*[=:]\s*)(?:(?:bearer|basic)\s+)?("[^"]*"|'[^']*'|[^\s,;&]+)/gi
/** The user and the password in a URL, and its query. */
const URL_CREDENTIALS = /(\w+:\/\/)[^\s/@]+@/g
const URL_QUERY = /(\w+:\/\/[^\s?]+\?)\S+/g

/** An error of a price provider for the log: its name, its message without what looks like a secret, and its place. */
export function describeProviderError(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${error === null ? 'null' : `a value of type ${typeof error}`}`
  const message = error.message
    .replace(SECRETS, '$1[redacted]')
    .replace(URL_CREDENTIALS, '$1[redacted]@')
    .replace(URL_QUERY, '$1[redacted]')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, MAX_MESSAGE)
  const [frame = ''] = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return `${error.name}: ${message} ${frame.trim()}`.trim()
}
