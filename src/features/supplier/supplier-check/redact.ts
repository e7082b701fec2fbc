/** A text without these secrets, however they are encoded or cased. */
export function redact(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap((secret) => [secret, ...encodingsOf(secret.toWellFormed())])
  // The longest first: a secret may be part of another one.
  const longest = [...new Set(forms)].filter((form) => form !== '').sort((a, b) => b.length - a.length)
  const escaped = longest.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.replace(new RegExp(escaped.join('|') || '(?!)', 'gi'), '[hidden]')
}

/** Shorter encodings are not hidden: they occur in any text. */
const MIN_LENGTH = 4

/** A secret form-encoded, percent-encoded, in JSON, in HTML, in Base64 and in hexadecimal digits. */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    new URLSearchParams({ secret }).toString().slice('secret='.length),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ].filter((form) => form.length >= MIN_LENGTH)
}
