import type { Finding } from '../../web/kit.ts'
import type { NoAnswer } from './answers.ts'

export const ok = (id: string, text: string): Finding => ({ id, status: 'ok', text })

/**
 * `settings`: the settings that the finding is about, such as `PLATFORM_CLIENT_ID, BASE_URL`. The one to change first comes first.
 * `value`: what the value of that setting should probably be.
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

/** The finding for an outage, which says nothing about the settings. */
export const unavailable = (id: string, setting: string, url: string, status: number): Finding =>
  warning(
    id,
    setting,
    `${url} answered ${status}, so it could not be checked. Try again later; if it persists, check the address`,
  )

/** Why there was no response, by the code of the error or by the message of the Redis client. */
const REASONS: { codes: RegExp; id: string; text: string }[] = [
  {
    codes: /ENOTFOUND|EAI_AGAIN/,
    id: 'address.unknown-host',
    text: 'the host name is unknown. Check its spelling',
  },
  {
    codes: /ECONNREFUSED/,
    id: 'address.refused',
    text: 'the connection was refused. Nothing listens there: check the host and the port',
  },
  {
    codes: /TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no answer|not answer|not connected/i,
    id: 'address.timeout',
    text: 'there was no answer in time. Check the address and the firewall, and whether this network needs HTTPS_PROXY',
  },
  {
    codes: /SELF.SIGNED|UNABLE.TO.(VERIFY|GET.(LOCAL.)?ISSUER)|CERT_UNTRUSTED/i,
    id: 'tls.unknown-issuer',
    text: 'this machine does not know who issued the certificate. Set NODE_EXTRA_CA_CERTS to the file with the certificate of the issuer, in the environment and not in .env',
  },
  {
    codes: /CERT\w*.(HAS.EXPIRED|(IS.)?NOT.YET.VALID)/i,
    id: 'tls.expired',
    text: "the certificate has expired or is not valid yet. Check this machine's clock; otherwise the server needs a new certificate",
  },
  {
    codes: /ALTNAME/i,
    id: 'tls.wrong-name',
    text: 'the certificate is for another host name. Check the host name',
  },
  {
    codes: /EPROTO|ERR_SSL_/,
    id: 'tls.not-tls',
    text: 'the server does not speak TLS there. Check the port; a server on your own machine may need http://',
  },
]

/** What undici reports if a proxy refuses a tunnel, or asks for a password. */
const REFUSED_BY_PROXY = /^UND_ERR_(ABORTED|INVALID_ARG)$/

/** The finding for an address that did not respond. `settings`: the settings that have this address. */
export function noAnswer(settings: string, url: string, { error }: NoAnswer): Finding {
  if (REFUSED_BY_PROXY.test(error)) {
    const setting = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY'
    const text = `the proxy refuses to connect. Check the user and the password in ${setting}, or list the platform's hosts in NO_PROXY`
    return failure('proxy.rejected', setting, text)
  }
  const { id, text } = REASONS.find(({ codes }) => codes.test(error)) ?? {
    id: 'address.no-answer',
    text: `the request failed (${error}). Check the address, and whether the server answers only https`,
  }
  return failure(id, settings, `${url}: ${text}`)
}
