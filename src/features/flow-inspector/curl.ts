import type { Parameter, StepRequest } from './flow.ts'

/** The name of a parameter as a shell variable, such as `ACCESS_TOKEN` for `access_token`. */
const variableOf = (name: string) => name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')

/** Quotes text for a shell with single quotes. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** `name=value` as an argument; a secret is a shell variable, which only double quotes expand. */
const argumentOf = ({ name, value, fingerprint }: Parameter) =>
  fingerprint === undefined ? quote(`${name}=${value ?? ''}`) : `"${name}=$${variableOf(name)}"`

/** A header as an argument. The credentials of `authorization` are shell variables as well. */
function headerOf({ name, value, fingerprint }: Parameter): string {
  if (name !== 'authorization') return `--header ${quote(`${name}: ${value ?? fingerprint}`)}`
  const isBasic = fingerprint?.startsWith('client_secret:')
  return isBasic ? '--user "$CLIENT_ID:$CLIENT_SECRET"' : '--header "authorization: Bearer $ACCESS_TOKEN"'
}

/**
 * A recorded request as a curl command. Secrets, which are not recorded, are shell variables: `CODE`, `CLIENT_SECRET`. The body
 * of an API call is not recorded either.
 */
export function curlOf({ method, url, headers, parameters }: StepRequest): string {
  const isRead = method === 'GET' || method === 'HEAD'
  const isForm = ({ name, value }: Parameter) => name === 'content-type' && !value?.includes('json')
  const sent = headers.filter((header) => header.name !== 'content-length' && !isForm(header))
  return [
    `curl ${isRead ? '--get ' : ''}--include ${method === 'GET' ? '' : `--request ${method} `}${quote(url)}`,
    ...sent.map(headerOf),
    ...parameters.map((parameter) => `--data-urlencode ${argumentOf(parameter)}`),
  ].join(' \\\n  ')
}
