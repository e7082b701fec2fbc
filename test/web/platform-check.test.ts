import type { Request, Response } from 'express'
import { expect, test } from 'vitest'
import { createHttp, type Vault } from '../../src/connect/index.ts'
import { checkPlatformFirst } from '../../src/web/platform-check.ts'
import { startTokenEndpoint } from '../support/token-endpoint.ts'

test.each([
  ['answers', { status: 200, text: 'a page' }, undefined],
  ['has a page that is too large for the app', { status: 200, text: 'x'.repeat(10_000) }, undefined],
  ['is down', { status: 503, text: 'down' }, 'platform_unavailable'],
])('before a connect flow after an outage, a platform that %s', async (_what, answer, code) => {
  const platform = await startTokenEndpoint()
  platform.answers(answer)
  const list = async () => [{ view: { state: 'degraded', trouble: 'no_answer' } }]
  const check = checkPlatformFirst(
    platform.authUrl,
    { list } as unknown as Vault,
    createHttp({ maxBytes: 9_000 }),
  )
  const req = { method: 'POST', path: '/connect', session: { user: { id: 'ann', name: 'Ann' } } }
  const passed = Promise.resolve(check(req as unknown as Request, {} as Response, () => {}))
  if (code === undefined) await passed
  else await expect(passed).rejects.toMatchObject({ code })
  await platform.close()
})
