import { connect } from 'node:net'
import type { Proxies } from '../connect/platform/http.ts'
import { type Finding, failure, ok } from './finding.ts'

const TIMEOUT_MS = 5_000

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
  const text = `${setting}: the proxy ${host} does not accept connections (${error}). Check its address, or remove ${setting}`
  return failure('proxy.unreachable', text, { setting })
}

/** Resolves to the code of the error, or null if the connection was accepted. */
function connectTo(hostname: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port, timeout: TIMEOUT_MS })
    const end = (result: string | null) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('no answer within 5 s'))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
