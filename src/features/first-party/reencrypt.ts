import type { ReencryptResult } from '../../connect/index.ts'
import type { FeatureDeps } from '../feature.ts'
import { createFirstPartyVault } from './access.ts'

/** Re-encrypts the tokens of first-party access. */
export default function reencrypt(
  { store, config, log }: FeatureDeps,
  onProgress: (result: ReencryptResult) => void,
): Promise<ReencryptResult> {
  const refresh = () => Promise.reject(new Error('tokens are not refreshed here'))
  const vault = createFirstPartyVault({ store, keys: config.tokenEncryptionKeys, log }, refresh)
  return vault.reencrypt(onProgress)
}
