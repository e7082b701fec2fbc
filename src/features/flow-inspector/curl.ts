import type { Parameter, StepRequest } from './flow.ts'

/** `access_token` as the name of a shell variable. */
const variableOf = (name: string) => name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')

/** A text in single quotes of a shell. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** `name=value` as an argument; a secret is a shell variable, which only double quotes expand. */
const argumentOf = ({ name, value, fingerprint }: Parameter) =>
  fingerprint === undefined ? quote(`${name}=${value ?? ''}`) : `"${name}=$${variableOf(name)}"`

/**
 * A recorded request as a curl command. Secrets, which are not recorded, are shell variables: `CODE`, `CLIENT_SECRET`. The body
 * of an API call is not recorded either.
 */
export function curlOf({ method, url, headers, parameters }: StepRequest): string {
  const isRead = method === 'GET' || method === 'HEAD'
  const isJson = headers['content-type']?.includes('json') ?? false
  const lines = [
    `curl ${isRead ? '--get ' : ''}--include ${method === 'GET' ? '' : `--request ${method} `}${quote(url)}`,
  ]
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-length' || (name === 'content-type' && !isJson)) continue
    lines.push(
      name === 'authorization'
        ? `--header "authorization: Bearer $ACCESS_TOKEN"`
        : `--header ${quote(`${name}: ${value}`)}`,
    )
  }
  for (const parameter of parameters) lines.push(`--data-urlencode ${argumentOf(parameter)}`)
  return lines.join(' \\\n  ')
}
