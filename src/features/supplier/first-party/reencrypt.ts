import type { Reencryption } from '../../../connect/index.ts'
import type { FeatureDeps } from '../../../web/feature-api.ts'
import { createFirstPartyVault } from './access.ts'

/** Re-encrypts the tokens of first-party access. */
export default function reencrypt({ store, config, log }: FeatureDeps): AsyncIterable<Reencryption> {
  const refresh = () => Promise.reject(new Error('tokens are not refreshed here'))
  return createFirstPartyVault({ store, keys: config.tokenEncryptionKeys, log }, refresh).reencrypt()
}
