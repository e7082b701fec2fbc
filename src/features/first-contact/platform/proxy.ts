import { connect } from 'node:net'
import type { Proxies } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import { failure, ok } from '../findings.ts'

const TIMEOUT_MS = 5_000

/** Whether calls to this address go through a forward proxy: `NO_PROXY` has hosts, also with the domains below them. */
export function usesProxy({ hostname, protocol }: URL, proxies: Proxies | null): boolean {
  if (!proxies || !(proxies.httpProxy || (protocol === 'https:' && proxies.httpsProxy))) return false
  const host = hostname.replace(/^\[|\]$/g, '')
  const exempt = proxies.noProxy
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/:\d+$/, '').replace(/^\*?\./, ''))
  return !exempt.some(
    (entry) => entry !== '' && (entry === '*' || host === entry || host.endsWith(`.${entry}`)),
  )
}

/** Checks that the forward proxy accepts connections; undefined if there is none. */
export async function checkProxy(proxies: Proxies | null): Promise<Finding | undefined> {
  if (!proxies) return undefined
  const [setting, address] = proxies.httpsProxy
    ? ['HTTPS_PROXY', proxies.httpsProxy]
    : ['HTTP_PROXY', proxies.httpProxy ?? '']
  const { host, hostname, port, protocol } = new URL(address)
  const error = await connectTo(hostname, Number(port) || (protocol === 'https:' ? 443 : 80))
  if (!error)
    return ok('proxy', `${setting}: calls to the platform go through ${host}, except for ${proxies.noProxy}`)
  const text = `the proxy ${host} does not accept connections (${error}). Check its address, or remove ${setting}`
  return failure('proxy.unreachable', setting, text)
}

/** Resolves to the code of the error, or null if the connection was accepted. */
function connectTo(hostname: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    // As long for each address as the app's own calls allow.
    const socket = connect({
      host,
      port,
      timeout: TIMEOUT_MS,
      autoSelectFamilyAttemptTimeout: TIMEOUT_MS / 2,
    })
    const end = (result: string | null) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('no answer within 5 s'))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
