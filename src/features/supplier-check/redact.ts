/** Hides secrets in texts, however they are encoded or cased. */
export interface Redactor {
  /** Hides a secret from now on. */
  hide(secret: string): void
  redact(text: string): string
}

/** Shorter parts of secrets are not hidden: they occur in any text. */
const MIN_LENGTH = 4

/** Creates a redactor that hides nothing yet. */
export function createRedactor(): Redactor {
  const forms = new Set<string>()
  let pattern: RegExp | undefined
  return {
    hide(secret) {
      if (secret === '') return
      for (const form of encodingsOf(secret.toWellFormed())) forms.add(form)
      pattern = undefined
    },
    redact(text) {
      // The longest first: a secret may be part of another one.
      pattern ??= new RegExp(
        [...forms]
          .sort((a, b) => b.length - a.length)
          .map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('|') || '(?!)',
        'gi',
      )
      return text.replace(pattern, '[hidden]')
    },
  }
}

/** A secret as it is, form-encoded, percent-encoded, in JSON, in HTML, in Base64 and in hexadecimal digits. */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const encoded = [
    new URLSearchParams({ secret }).toString().slice('secret='.length),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
  return [secret, ...encoded.filter((form) => form.length >= MIN_LENGTH)]
}
