import type { Proxies } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import { failure } from '../findings.ts'

/** The forward proxy for calls to this address: its setting and its host. Hosts in `NO_PROXY` include the domains below them. */
export function proxyOf(
  { hostname, protocol }: URL,
  proxies: Proxies | null,
): { setting: string; host: string } | undefined {
  const isSecure = protocol === 'https:' && proxies?.httpsProxy !== undefined
  const address = isSecure ? proxies.httpsProxy : proxies?.httpProxy
  if (!proxies || !address) return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  const exempt = proxies.noProxy
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/:\d+$/, '').replace(/^\*?\./, ''))
    .some((entry) => entry !== '' && (entry === '*' || host === entry || host.endsWith(`.${entry}`)))
  if (exempt) return undefined
  return { setting: isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY', host: new URL(address).host }
}

/** The finding if a proxy cannot be reached, since only the proxy is looked up and connected to. Undefined for other errors. */
export function proxyFinding(url: string, proxies: Proxies | null, error: string): Finding | undefined {
  const proxy = proxyOf(new URL(url), proxies)
  if (!proxy || !/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/.test(error)) return undefined
  const { setting, host } = proxy
  const text = `the proxy ${host} does not accept connections (${error}). Check its address, or remove ${setting}`
  return failure('proxy.unreachable', setting, text)
}
