import type { Response } from '../answers.ts'

/** What a refusal in JSON is about. */
export type Refused = 'redirect' | 'scope' | 'pkce' | 'client'

const WORDS: [Refused, RegExp][] = [
  ['pkce', /\bpkce\b|code[ _]?(challenge|verifier)/i],
  ['redirect', /redirect[ _-]?ur[il]|return[ _-]?(ur[il]|address)|callback[ _-]?ur[il]/i],
  ['scope', /\bscopes?\b|invalid_scope/i],
  ['client', /client[ _-]?id|(invalid|unauthorized|unknown)[ _]client|unknown application/i],
]

/**
 * What an error in JSON speaks of, whatever its status: an address that refuses a parameter exists. Empty if it is no JSON
 * object, or speaks of none of these.
 */
export function refusedIn({ json }: Response): Refused[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return []
  const text = Object.values(json)
    .flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : [value]))
    .filter((value) => typeof value === 'string')
    .join('\n')
  return WORDS.flatMap(([refused, words]) => (words.test(text) ? [refused] : []))
}
