import { expect, test } from 'vitest'
import { startTokenEndpoint } from '../../support/token-endpoint.ts'
import { REF, vaultWithRevocation } from '../../support/vault.ts'

test('disconnecting gives up after 5 s if the revocation endpoint does not answer', async () => {
  const endpoint = await startTokenEndpoint()
  endpoint.answers(() => {})
  const { vault, close } = await vaultWithRevocation(endpoint)
  const startedAt = performance.now()
  expect(await vault.disconnect(REF)).toBe('unknown')
  expect(performance.now() - startedAt).toBeLessThan(7_000)
  await close()
  await endpoint.close()
})
