import { afterEach, expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { createHttpPools, type HttpPools } from '../../../src/connect/platform/http.ts'
import { serve } from '../../support/ports.ts'

let pools: HttpPools
afterEach(() => pools.close())

/** A forward proxy that answers itself. */
async function startProxy() {
  const asked: string[] = []
  const server = await serve((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    res.end('from the proxy')
  })
  return { asked, url: `http://127.0.0.1:${server.port}`, close: server.close }
}

test.each(['tokens', 'api', 'uploads'] as const)(
  'calls of the pool %s go through the proxy',
  async (pool) => {
    const proxy = await startProxy()
    pools = createHttpPools(platform, {
      proxies: { httpsProxy: undefined, httpProxy: proxy.url, noProxy: 'direct.example' },
    })
    const { text } = await pools[pool].send({
      method: 'POST',
      url: 'http://platform.example/a?b=c',
      body: 'x',
    })
    expect(text).toBe('from the proxy')
    expect(proxy.asked).toEqual(['POST http://platform.example/a?b=c'])
    await expect(pools[pool].send({ method: 'GET', url: 'http://direct.example/' })).rejects.toThrow()
    expect(proxy.asked).toHaveLength(1)
    await proxy.close()
  },
)
