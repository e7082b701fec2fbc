import type { Feature } from '../feature.ts'
import { createFirstPartyVault } from './access.ts'
import { checkFirstParty } from './check.ts'
import { probeFirstParty } from './probe.ts'
import { type FirstPartySettings, firstPartySettings } from './settings.ts'

/** Access to the platform's API by API key, for unattended jobs (specification 5.2). */
export const firstParty: Feature<FirstPartySettings> = {
  name: 'first-party',
  settings: firstPartySettings,
  create: ({ store, encryptionKeys: keys, log }) => ({
    reencrypt(onProgress) {
      const refresh = () => Promise.reject(new Error('tokens are not refreshed here'))
      return createFirstPartyVault({ store, keys, log, refresh }).reencrypt(onProgress)
    },
  }),
  check: async (context, credentials) => (credentials ? checkFirstParty(context, credentials) : []),
  probe: probeFirstParty,
}
