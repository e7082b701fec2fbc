import type { Finding } from '../../web/feature-api.ts'

export const ok = (id: string, text: string): Finding => ({ id, status: 'ok', text })

/**
 * `settings`: the settings that the finding is about, such as `PLATFORM_CLIENT_ID, BASE_URL`. List the most likely cause first.
 * `value`: the value that is probably correct.
 */
const problem =
  (status: 'warning' | 'failure') =>
  (id: string, settings: string, text: string, value?: string): Finding => {
    const [setting = ''] = settings.split(', ')
    return { id, status, text: `${settings}: ${text}`, setting, ...(value !== undefined && { value }) }
  }

/** The app works, but something should be changed or could not be proven. */
export const warning = problem('warning')
/** The app does not work. */
export const failure = problem('failure')

/** The finding for an outage, which gives no information about the settings. */
export const unavailable = (id: string, setting: string, url: string, status: number): Finding =>
  warning(
    id,
    setting,
    `${url} answered ${status}, so it could not be checked. Try again later; if it persists, check the address`,
  )

/** Why there was no response, by the code or the message of an error. `forUrls`: what else to check at a URL of the platform. */
const REASONS: [id: string, codes: RegExp, text: string, forUrls?: string][] = [
  ['address.unknown-host', /ENOTFOUND|EAI_AGAIN/, 'the host name is unknown. Check its spelling'],
  [
    'address.refused',
    /ECONNREFUSED/,
    'the connection was refused. Start the server, or correct the host and the port',
    '. If you use a forward proxy, check its address. `npm run sandbox` starts the sandbox',
  ],
  [
    'address.timeout',
    /TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no answer|not answer|not connected/i,
    'there was no answer in time. Check the address and the firewall',
    ', and whether this network needs HTTPS_PROXY',
  ],
  [
    'tls.unknown-issuer',
    /SELF.SIGNED|UNABLE.TO.(VERIFY|GET.(LOCAL.)?ISSUER)|CERT_UNTRUSTED/i,
    'this machine does not know who issued the certificate. Set NODE_EXTRA_CA_CERTS to the file with the certificate of the issuer, in the environment and not in .env',
  ],
  [
    'tls.expired',
    /CERT\w*.(HAS.EXPIRED|(IS.)?NOT.YET.VALID)/i,
    "the certificate has expired or is not valid yet. Check this machine's clock; otherwise the server needs a new certificate",
  ],
  ['tls.wrong-name', /ALTNAME/i, 'the certificate is for another host name. Check the host name'],
  [
    'tls.not-tls',
    /EPROTO|ERR_SSL_/,
    'the server does not speak TLS there. Check the port; a server on your own machine may need http://',
  ],
]

/** The error if a proxy refuses a tunnel, or asks for a password. */
const REFUSED_BY_PROXY = /^the forward proxy answered/

/** The finding for an address that did not respond. `settings`: the settings that have this address. */
export function noAnswer(settings: string, url: string, error: string): Finding {
  if (REFUSED_BY_PROXY.test(error)) {
    const setting = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY'
    const text = `the proxy refuses to connect. Check the user and the password in ${setting}, or list the platform's hosts in NO_PROXY`
    return failure('proxy.rejected', setting, text)
  }
  const other = `the request failed (${error}). Check the address, and whether the server answers only https`
  const found = REASONS.find(([, codes]) => codes.test(error))
  const [id, , text, forUrls = ''] = found ?? ['address.no-answer', /$/, other]
  return failure(id, settings, `${url}: ${text}${/^https?:/.test(url) ? forUrls : ''}`)
}
