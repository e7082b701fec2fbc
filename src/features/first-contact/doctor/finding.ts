import type { Finding } from '../../tools.ts'
import type { Answer, NoAnswer, Response } from './http.ts'

/** What a finding says beyond its id and text. */
type Details = Pick<Finding, 'setting' | 'value'>

export const ok = (id: string, text: string): Finding => ({ id, status: 'ok', text })
export const warning = (id: string, text: string, details: Details = {}): Finding => ({
  id,
  status: 'warning',
  text,
  ...details,
})
export const failure = (id: string, text: string, details: Details = {}): Finding => ({
  id,
  status: 'failure',
  text,
  ...details,
})

export const isResponse = (answer: Answer): answer is Response => answer.status !== 0

/** Why there was no response, by the code of the error: the finding's id, what happened, and what to do. */
const REASONS: { codes: RegExp; id: string; what: string; cure: string }[] = [
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    id: 'address.unknown-host',
    what: 'the host name is unknown',
    cure: 'Check its spelling',
  },
  {
    codes: /^ECONNREFUSED$/,
    id: 'address.refused',
    what: 'the connection was refused',
    cure: 'Nothing listens there: check the host and the port',
  },
  {
    codes: /TIMEOUT|TimeoutError|AbortError|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
    id: 'address.timeout',
    what: 'there was no answer in time',
    cure: 'Check the address and the firewall, and whether this network needs HTTPS_PROXY',
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    id: 'tls.unknown-issuer',
    what: 'this machine does not know who issued the certificate',
    cure: 'Set NODE_EXTRA_CA_CERTS to the file with the certificate of the issuer, in the environment and not in .env',
  },
  {
    codes: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    id: 'tls.expired',
    what: 'the certificate has expired or is not valid yet',
    cure: "Check this machine's clock; otherwise the server needs a new certificate",
  },
  {
    codes: /ALTNAME_INVALID/,
    id: 'tls.wrong-name',
    what: 'the certificate is for another host name',
    cure: 'Check the host name',
  },
  {
    codes: /^(EPROTO|ERR_SSL_.*)$/,
    id: 'tls.not-tls',
    what: 'the server does not speak TLS there',
    cure: 'Check the port; a server on your own machine may need http://',
  },
]

/** The finding for an address that did not respond. `settings` has the names of the settings with this address. */
export function noAnswer(settings: string[], url: string, { error, message }: NoAnswer): Finding {
  const subject = `${settings.join(', ')}: ${url}`
  const [, proxyStatus] = /^Proxy.*\((\d+)\)/.exec(message) ?? []
  if (proxyStatus) {
    const setting = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY'
    const text = `${setting}: the proxy refuses to connect (${proxyStatus}). Check the user and the password in ${setting}, or list the platform's hosts in NO_PROXY`
    return failure('proxy.rejected', text, { setting })
  }
  const details = settings[0] ? { setting: settings[0] } : {}
  const reason = REASONS.find(({ codes }) => codes.test(error))
  if (!reason)
    return failure(
      'address.no-answer',
      `${subject}: the request failed (${error}). Check the address`,
      details,
    )
  return failure(reason.id, `${subject}: ${reason.what}. ${reason.cure}`, details)
}
